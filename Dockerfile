# The app on one machine: `docker build -t evorag . && docker run -p 8050:8050 -v evorag:/data evorag`
FROM python:3.11-slim AS build
WORKDIR /src
RUN python -m venv /opt/evorag
# torch comes first and alone: resolved together with the rest it would pull gigabytes of CUDA.
COPY constraints.txt pyproject.toml README.md LICENSE ./
RUN /opt/evorag/bin/pip install --no-cache-dir -c constraints.txt torch
COPY core core
COPY app app
COPY assets assets
RUN /opt/evorag/bin/pip install --no-cache-dir -c constraints.txt -e .

FROM python:3.11-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 libreoffice-writer libreoffice-calc libreoffice-impress \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home evorag \
    && install -d -o evorag /data
COPY --from=build /opt/evorag /opt/evorag
COPY --from=build /src /src
USER evorag
ENV EVORAG_DATA_DIR=/data EVORAG_HOST=0.0.0.0
VOLUME /data
EXPOSE 8050
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["/opt/evorag/bin/python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8050/health')"]
CMD ["/opt/evorag/bin/evorag", "serve"]
