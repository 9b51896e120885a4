# docker build -t surrogate-arena --build-arg VERSION=1.2.3 .
# docker run --rm -v "$PWD:/work" surrogate-arena board my-arena --out out/my-board
FROM python:3.11-slim AS wheel
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY arena arena
COPY features features
COPY surrogate surrogate
COPY surrogate_arena surrogate_arena
ARG VERSION=0.0.0
RUN SETUPTOOLS_SCM_PRETEND_VERSION=$VERSION pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim
COPY constraints.txt /tmp/
RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    pip install --no-cache-dir -c /tmp/constraints.txt /wheels/*.whl \
    && useradd --create-home --uid 1000 arena
USER arena
WORKDIR /work
ENTRYPOINT ["surrogate-arena"]
CMD ["demo", "--out", "/tmp/demo"]
