# docker build -t surrogate-arena --build-arg VERSION=1.2.3 --build-arg EXTRAS=llm,mcp .
# docker run --rm -v "$PWD:/work" surrogate-arena board my-arena --out out/my-board
FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY arena arena
COPY features features
COPY surrogate surrogate
COPY surrogate_arena surrogate_arena
ARG VERSION=0.0.0
RUN SETUPTOOLS_SCM_PRETEND_VERSION=$VERSION pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .
ARG EXTRAS=
RUN python -m venv --without-pip /opt/arena && \
    pip --python /opt/arena/bin/python install --no-cache-dir -c constraints.txt \
    "$(echo /wheels/surrogate_arena-*.whl)${EXTRAS:+[$EXTRAS]}"

# What is installed, and nothing that built it.
FROM python:3.11-slim
RUN useradd --create-home --uid 1000 arena
COPY --from=build /opt/arena /opt/arena
ENV PATH=/opt/arena/bin:$PATH
USER 1000
WORKDIR /work
ENTRYPOINT ["surrogate-arena"]
CMD ["demo", "--out", "/tmp/demo"]
