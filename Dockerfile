# The server over a project that is mounted at /project:
#   docker build -t context-pack . && docker run -i --rm -v "$PWD":/project context-pack
FROM python:3.13-slim
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
COPY pyproject.toml README.md LICENSE /src/
COPY context_pack /src/context_pack
COPY adapters /src/adapters
RUN pip install --no-cache-dir '/src[semantic]' && rm -rf /src
RUN useradd --create-home agent
USER agent
WORKDIR /project
ENV CONTEXT_PACK_SOURCE_ROOT=/project
ENTRYPOINT ["context-pack"]
