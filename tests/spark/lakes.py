"""A table of Delta or Iceberg, written by Spark with their packages: `python -m … KIND FOLDER`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark import __version__
from pyspark.sql import SparkSession

_SPARK: Final = ".".join(__version__.split(".")[:2])


@dataclass(frozen=True, kw_only=True)
class Lake:
    """What Spark needs for its tables; `{}` in settings is the folder."""

    package: str
    settings: Mapping[str, str]
    sparks: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether there is a package for the Spark that is installed."""
        return _SPARK in self.sparks

    def submit_arguments(self, folder: Path) -> str:
        """As PYSPARK_SUBMIT_ARGS, for whoever reads or writes the table in `folder`."""
        settings = {**self.settings, "spark.sql.warehouse.dir": "{}/warehouse"}
        given = [f"--conf {name}={value.format(folder)}" for name, value in settings.items()]
        return " ".join(["--packages", self.package, *given, "pyspark-shell"])


LAKES: Final = {
    "delta": Lake(
        package=f"io.delta:delta-spark_{_SPARK}_2.13:4.4.0",
        settings={
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        },
        sparks=("4.1", "4.2"),
    ),
    "iceberg": Lake(
        package=f"org.apache.iceberg:iceberg-spark-runtime-{_SPARK}_2.13:1.11.0",
        settings={
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "hadoop",
            "spark.sql.catalog.lake.warehouse": "{}/iceberg",
        },
        sparks=("4.0", "4.1"),
    ),
}


def write(kind: str, folder: Path) -> None:
    """`orders.parquet` of the folder as a Delta table by its path, or as lake.shop.orders."""
    session = SparkSession.builder.master("local[1]").getOrCreate()
    orders = session.read.parquet(str(folder / "orders.parquet"))
    if kind == "delta":
        orders.write.format("delta").save(str(folder / "delta"))
    else:
        orders.writeTo("lake.shop.orders").using("iceberg").create()
    session.stop()


if __name__ == "__main__":
    write(sys.argv[1], Path(sys.argv[2]))
