/**
 * Builds the container images for Node and Bun, and runs them against a real engine: `npm run test:image`.
 *
 * It needs root and `apt-get install --no-install-recommends buildah podman runc mmdebstrap`, but no image registry,
 * because it creates its base images. It takes two minutes on two cores, three the first time, and more than ten
 * without an overlay file system, where `STORAGE_DRIVER=vfs` is needed. Verified on Debian 12 with buildah 1.28.2,
 * podman 4.3.1 and runc 1.1.5; `compose.yaml` with Docker Compose on podman and our own base images.
 */
import { fileURLToPath } from 'node:url'
import { describe, expect, inject } from 'vitest'
import { ensureHadolint } from '../../dev/servers/components.ts'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeApi } from '../support/api.ts'
import { test } from '../support/fixtures.ts'
import { type Container, startContainer } from './containers.ts'
import { buildImages, type Images } from './images.ts'

const TOKEN = 'image-token'
/** Of both runtimes. */
const DIST = ['dist/docs-page.js', 'dist/sbom.cdx.json', 'dist/THIRD-PARTY-NOTICES']
const catalog = `image-${crypto.randomUUID()}`
let images: Images

test.beforeAll(async ({ cleanup }) => {
  images = await buildImages()
  cleanup.defer(() => images.remove())
  const worker = await startExampleWorker(catalog)
  cleanup.defer(() => worker.stop())
}, 900_000)

test('Dockerfile: hadolint reports nothing', async () => {
  const dockerfile = fileURLToPath(new URL('../../Dockerfile', import.meta.url))

  expect(await runCommand({ command: await ensureHadolint(), args: [dockerfile] })).toBe('')
})

test('the image of the example worker: the process exits with 0 on SIGTERM', async () => {
  const ending = await startExampleWorker(`${catalog}-ends`)

  await ending.stop()

  expect(await ending.ended).toMatchObject({ code: 0 })
})

describeImage('node')
describeImage('bun')

function describeImage(runtime: 'node' | 'bun'): void {
  describe(`the image on ${runtime}`, () => {
    test('contains the bundle and all licenses, less than 3 MB on top of its base image (threat 103)', async () => {
      const { container } = await serve()
      const files = JSON.parse(
        await container.exec(runtime, '-e', `console.log(JSON.stringify(fs.readdirSync('/app', { recursive: true })))`),
      )
      const bundle = files.filter((file: string) => !/^dist\/server-[\w-]+\.js$/.test(file))
      await container.stop()

      expect(bundle.toSorted()).toEqual(['LICENSE', 'dist', ...DIST, `dist/${runtime}.js`, 'package.json'].toSorted())
      expect((await sizeOf(images[runtime])) - (await sizeOf(images.bases[runtime]))).toBeLessThan(3e6)
    })

    test('has the metadata that a platform reads', async () => {
      const { Config, Healthcheck } = await inspect(images[runtime])

      expect(Config).toMatchObject({
        User: '1000:1000',
        ExposedPorts: { '3001/tcp': {} },
        StopSignal: 'SIGTERM',
        WorkingDir: '/app',
        Entrypoint: [runtime, `dist/${runtime}.js`],
        Labels: { 'org.opencontainers.image.title': 'Portico', 'org.opencontainers.image.licenses': 'Apache-2.0' },
      })
      expect(Config.Cmd ?? []).toEqual([])
      expect(Healthcheck.Test.slice(0, 3)).toEqual(['CMD', runtime, '-e'])
    })

    test('runs unprivileged: no root, no capabilities, no shell, no writable files (threat 103)', async () => {
      const { container, api } = await serve()
      const status = await container.exec(runtime, '-e', `console.log(fs.readFileSync('/proc/1/status', 'utf8'))`)
      const write = `for (const folder of ['/', '/app', '/tmp']) try { fs.writeFileSync(folder + '/file', '') } catch ({ code }) { console.log(code) }`

      expect(await container.exec(runtime, '-e', write)).toBe('EROFS\nEROFS\nEROFS')
      await expect(container.exec('sh', '-c', 'true')).rejects.toThrow('executable file not found')
      expect(status).toMatch(/^Uid:\s1000\s1000\s1000\s1000$/m)
      expect(status).toMatch(/^Gid:\s1000\s1000\s1000\s1000$/m)
      expect(status).toMatch(/^CapEff:\s0+$/m)
      expect(status).toMatch(/^CapBnd:\s0+$/m)
      expect(status).toMatch(/^NoNewPrivs:\s1$/m)
      expect(await api.call('POST', '/workflow/run', { workflowName: 'greet', input: { name: 'Ada' } })).toMatchObject({
        status: 200,
        body: { status: 'completed', output: 'Hello, Ada!' },
      })
      await container.stop()
    })

    test('its HEALTHCHECK detects a service that does not respond', async () => {
      const { container } = await serve()
      const { Healthcheck } = await inspect(images[runtime])
      const [, ...command] = Healthcheck.Test
      const elsewhere = `process.env.SERVICE_PORT = '${await freePort()}'; ${command[2]}`

      await container.health()
      await expect(container.exec(command[0], command[1], elsewhere)).rejects.toThrow()
      await container.stop()
    })

    test('SIGTERM: a client that waits for a run gets a response, and the process exits with 0', async () => {
      const { container, api } = await serve({ SERVICE_SHUTDOWN_TIMEOUT: '4s' })
      const workflowId = crypto.randomUUID()
      const order = { orderId: '1', amount: 1000, card: 'visa' }
      const waiting = api.call('POST', '/workflow/run', { workflowName: 'order', input: order, workflowId })
      await until(
        'the run has begun',
        async () => (await api.call('GET', `/workflow/${workflowId}/status`)).status === 200,
      )

      const [{ status, body }] = await Promise.all([waiting, container.stop()])

      expect([status, body.error, body.workflowId]).toEqual([424, 'WorkflowExecutionTimedOutError', workflowId])
      expect(await container.ended).toMatchObject({ code: 0 })
    })

    test('without a token it exits and names the missing variable (threat 43)', async () => {
      const container = await startContainer(images, { image: images[runtime], env: { SERVICE_CATALOG_ID: catalog } })

      expect(await container.ended).toMatchObject({ code: 1 })
      expect(container.output()).toContain(
        'SERVICE_API_AUTH_TOKEN or SERVICE_POLICY is required when the server is not bound to loopback',
      )
    })

    async function serve(env: Record<string, string> = {}) {
      const port = await freePort()
      const container = await startContainer(images, {
        image: images[runtime],
        env: {
          ENGINE_ADDRESS: inject('engine').address,
          SERVICE_CATALOG_ID: catalog,
          SERVICE_API_AUTH_TOKEN: TOKEN,
          SERVICE_PORT: `${port}`,
          ...env,
        },
        ready: /"message":"listening"/,
      })
      return { container, api: makeApi({ url: `http://127.0.0.1:${port}`, token: TOKEN }) }
    }
  })
}

function startExampleWorker(catalog: string): Promise<Container> {
  const env = { ENGINE_ADDRESS: inject('engine').address, SERVICE_CATALOG_ID: catalog }
  return startContainer(images, { image: images.worker, env, tmpfs: '/tmp:exec', ready: /Worker ready/ })
}

interface Inspected {
  Size: number
  Config: { Cmd?: string[]; [fact: string]: unknown }
  Healthcheck: { Test: [string, string, string, string] }
}

async function inspect(image: string): Promise<Inspected> {
  return JSON.parse(await images.podman('image', 'inspect', image))[0]
}

async function sizeOf(image: string): Promise<number> {
  return (await inspect(image)).Size
}
