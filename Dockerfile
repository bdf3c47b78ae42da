# Calipers for CI: the command, the report and tolerant quotes; no compiler, no pip, a user of its own.
# The digest is that of python:3.12-slim; both stages must have the same.
FROM python:3.12-slim@sha256:229a2c5bfa27522db7815ea81f9bed70af17ccb9de9fc7ad142b1877b5830d36 AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py constraints.txt LICENSE README.md ./
COPY src ./src
# calipers serve needs text,web,postgres: docker build --build-arg EXTRAS=text,web,postgres .
ARG EXTRAS=text
# The build package stays in an environment of its own, and the other one has no pip.
RUN python -m venv /opt/build \
    && /opt/build/bin/pip install --no-cache-dir --disable-pip-version-check -c constraints.txt hatchling \
    && /opt/build/bin/pip wheel --no-cache-dir --disable-pip-version-check --no-build-isolation --no-deps -w /wheels . \
    && python -m venv --without-pip /opt/calipers \
    && /opt/build/bin/pip --python /opt/calipers/bin/python install --no-cache-dir --disable-pip-version-check \
       -c constraints.txt "$(echo /wheels/calipers-*.whl)[${EXTRAS}]"

FROM python:3.12-slim@sha256:229a2c5bfa27522db7815ea81f9bed70af17ccb9de9fc7ad142b1877b5830d36
COPY --from=build /opt/calipers /opt/calipers
ENV PATH="/opt/calipers/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
RUN useradd --system --create-home --uid 10001 calipers
USER 10001
WORKDIR /data
ENTRYPOINT ["calipers"]
CMD ["--help"]
