# Calipers for CI: the command, the report and tolerant quotes; no compiler, and a user of its own.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt LICENSE README.md ./
COPY src ./src
RUN python -m venv /opt/calipers \
    && /opt/calipers/bin/pip install --no-cache-dir --disable-pip-version-check -c constraints.txt hatchling \
    && /opt/calipers/bin/pip install --no-cache-dir --disable-pip-version-check -c constraints.txt --no-build-isolation '.[report,text]' \
    && /opt/calipers/bin/pip uninstall --yes hatchling

FROM python:3.12-slim
COPY --from=build /opt/calipers /opt/calipers
ENV PATH="/opt/calipers/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
RUN useradd --system --create-home --uid 10001 calipers
USER 10001
WORKDIR /data
ENTRYPOINT ["calipers"]
CMD ["--help"]
