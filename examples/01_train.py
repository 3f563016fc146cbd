"""Train a small model on synthetic data and record what every rank does in every step.

torchrun --standalone --nproc_per_node 2 examples/01_train.py
otel-trace view
"""

import os

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

import otel_trace as ot

STEPS, BATCH, FEATURES, CLASSES = 20, 32, 64, 10


@ot.traced
def make_batch(teacher: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    features = torch.randn(BATCH, FEATURES, generator=generator)
    return features, (features @ teacher).argmax(dim=1)


@ot.stage("forward")
def forward(model: nn.Module, features: Tensor, labels: Tensor) -> Tensor:
    loss: Tensor = nn.functional.cross_entropy(model(features), labels)
    return loss


def main() -> None:
    ot.configure()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    teacher = torch.randn(FEATURES, CLASSES)
    network = nn.Sequential(nn.Linear(FEATURES, 128), nn.ReLU(), nn.Linear(128, CLASSES))
    model = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    generator = torch.Generator().manual_seed(int(os.environ["RANK"]))

    for number in range(STEPS):
        with ot.step(number):
            with ot.stage("data"):
                features, labels = make_batch(teacher, generator)
            loss = forward(model, features, labels)
            with ot.stage("backward"):
                loss.backward()
            with ot.stage("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
        if dist.get_rank() == 0 and number % 5 == 4:
            print(f"step {number + 1:3}  loss {loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
