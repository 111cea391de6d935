/** What stands in front of a service: proxies that compress, buffer and store responses. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProcess } from '../../dev/servers/process.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { exitSignal } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type DebianProgram, ensureDebianProgram } from '../support/debian-program.ts'
import { loadPackage } from './programs.ts'

export interface RunningProxy {
  url: string
  stop(): Promise<void>
}

export interface Intermediary {
  name: string
  compresses: boolean
  /** `target`: of the service, `host:port`. Resolves when the service responds through it. */
  start(target: string): Promise<RunningProxy>
}

const EXPRESS: Intermediary = {
  name: 'express with compression',
  compresses: true,
  async start(target) {
    const [express, compression, { createProxyMiddleware }] = await Promise.all(
      ['express', 'compression', 'http-proxy-middleware'].map(loadPackage),
    )
    const app = express()
    app.use(compression())
    app.use(createProxyMiddleware({ target: `http://${target}` }))
    const server = createServer(app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { url: `http://127.0.0.1:${portOf(server)}`, stop: () => close(server) }
  },
}

export const NGINX_PROGRAM: Pick<Daemon, 'args' | 'program'> = {
  program: { name: 'nginx', packages: ['nginx'], path: 'usr/sbin/nginx', version: '-v' },
  args: (folder) => ['-p', folder, '-e', 'stderr', '-c', 'config'],
}

export const CADDY_PROGRAM: Pick<Daemon, 'args' | 'program'> = {
  program: { name: 'Caddy', packages: ['caddy'], path: 'usr/bin/caddy', version: 'version' },
  args: () => ['run', '--config', 'config', '--adapter', 'caddyfile'],
}

/** It stores what the service allows; where it does, it asks for all without `If-None-Match`. Compresses every type. */
const NGINX = daemon({
  name: 'nginx',
  compresses: true,
  ...NGINX_PROGRAM,
  config: (target, port) => `
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path body; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi; proxy_temp_path proxy;
  proxy_cache_path cache keys_zone=all:1m;
  gzip on; gzip_types *;
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    location / {
      proxy_pass http://${target};
    }
    location /workflow/ {
      proxy_pass http://${target};
      proxy_cache all;
      proxy_cache_valid any 1h;
    }
  }
}`,
})

const CADDY = daemon({
  name: 'Caddy',
  compresses: true,
  ...CADDY_PROGRAM,
  config: (target, port) => `
{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  encode gzip
  reverse_proxy ${target}
}`,
})

/** Its own rules store each response for two minutes that does not forbid it. */
const VARNISH = daemon({
  name: 'Varnish',
  compresses: false,
  program: {
    name: 'Varnish',
    packages: ['varnish', 'libvarnishapi3', 'libjemalloc2'],
    path: 'usr/sbin/varnishd',
    version: '-V',
  },
  args: (folder, port) => ['-F', '-j', 'none', '-n', folder, '-a', `127.0.0.1:${port}`, '-f', join(folder, 'config')],
  config: (target) => {
    const [host, port] = target.split(':')
    return `vcl 4.1;\nbackend default { .host = "${host}"; .port = "${port}"; }\n`
  },
})

export const PROXIES = [EXPRESS, NGINX, CADDY, VARNISH]

interface Daemon extends Pick<Intermediary, 'name' | 'compresses'> {
  program: DebianProgram
  args(folder: string, port: number): string[]
  /** The text of the file `config` in its folder. */
  config(target: string, port: number): string
}

export function daemon({ name, compresses, program, args, config }: Daemon): Intermediary {
  return {
    name,
    compresses,
    async start(target) {
      const { command, env } = await ensureDebianProgram(program)
      const [folder, port] = await Promise.all([mkdtemp(join(tmpdir(), 'world-proxy-')), freePort()])
      await writeFile(join(folder, 'config'), config(target, port))
      const environment = { ...env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
      const server = await startProcess({ command, args: args(folder, port), cwd: folder, env: environment })
      const url = `http://127.0.0.1:${port}`
      const responds = () =>
        fetch(`${url}/health`)
          .then(({ ok }) => ok)
          .catch(() => false)
      await until(`${name} responds`, responds, { signal: exitSignal(server, name) })
      const stop = async () => {
        await server.kill()
        await rm(folder, { recursive: true, force: true })
      }
      return { url, stop }
    },
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}
