import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { describeApi } from '../conformance/api.ts'
import { type ServedEntry, type ServeEntry, workerdOf } from '../support/entries.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'

const anonymous: ServeEntry = async (env) => {
  const folder = await ensureBundles()
  const others = { assets: join(folder, 'workerd-assets') }
  return workerdOf(join(folder, 'workerd.js'), others)({ SERVICE_ALLOW_ANONYMOUS: 'true', ...env })
}

describeApi('workerd', anonymous, ['slashes', 'update-with-start', 'async-updates', 'what-was-sent', 'loopback'])

describe('bindings that are not strings, as wrangler creates them for numbers and booleans in [vars]', () => {
  let service: ServedEntry

  async function request(
    path: string,
    json: Record<string, unknown>,
    init?: RequestInit,
  ): Promise<{ status: number; text: string }> {
    service = await workerdOf(join(await ensureBundles(), 'workerd.js'), { json })({
      SERVICE_CATALOG_ID: 'any',
      ENGINE_HTTP_URL: 'http://127.0.0.1:1',
      SERVICE_ALLOW_ANONYMOUS: 'true',
    })
    onTestFinished(() => service.stop())
    const response = await fetch(`${service.url}${path}`, init)
    return { status: response.status, text: await response.text() }
  }

  test('bindings: a token can be a number', async () => {
    expect((await request('/workflow/catalog', { SERVICE_API_AUTH_TOKEN: 12345678 })).status).toBe(401)
    const { status } = await fetch(`${service.url}/workflow/no-such-route/x`, {
      headers: { Authorization: 'Basic 12345678' },
    })
    expect(status).toBe(404)
  })

  test('bindings: a limit can be a number', async () => {
    const init = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ workflowName: 'x'.repeat(100) }),
    }

    expect(await request('/workflow/run', { SERVICE_MAX_BODY_BYTES: 100, ENGINE_TLS: false }, init)).toMatchObject({
      status: 413,
    })
  })

  test('bindings: objects are configuration errors without their values; null and bindings with other names are ignored (threat 95)', async () => {
    const json = {
      SERVICE_API_AUTH_TOKEN: { secret: 'hidden' },
      SERVICE_CORS_ORIGINS: ['hidden'],
      SERVICE_HOST: null,
      STORE: {},
    }
    const { status, text } = await request('/health', json)

    expect(status).toBe(500)
    expect(text).toMatch(/2 errors:.*SERVICE_API_AUTH_TOKEN must be.*SERVICE_CORS_ORIGINS must be/)
    expect(text).not.toMatch(/hidden|SERVICE_HOST|STORE/)
  })
})

test.each([
  { described: 'without assets', hasAssets: false },
  { described: 'with other assets', hasAssets: true },
])('workerd: $described the reference page is a 501 that says what to configure', async ({ hasAssets }) => {
  const folder = await ensureBundles()
  const others = hasAssets ? { assets: folder } : {}
  const { url, stop } = await workerdOf(
    join(folder, 'workerd.js'),
    others,
  )({
    SERVICE_CATALOG_ID: 'any',
    SERVICE_ALLOW_ANONYMOUS: 'true',
    SERVICE_DOCS_ON: 'true',
    ENGINE_HTTP_URL: 'http://127.0.0.1:1',
  })
  const answers = await Promise.all(['/docs', '/docs/page.css', '/capabilities'].map((path) => fetch(`${url}${path}`)))
  const [page, , capabilities] = await Promise.all(answers.map((answer) => answer.json()))
  await stop()

  expect(answers.map(({ status }) => status)).toEqual([501, hasAssets ? 404 : 501, 200])
  expect(page).toMatchObject({ error: 'NotSupportedError', message: expect.stringContaining('dist/workerd-assets') })
  expect(capabilities).toMatchObject({ features: { docs: hasAssets } })
})

test('workerd: a stalled catalog read of a disconnected client does not affect other requests', async () => {
  const { address, httpUrl } = inject('engine')
  const proxy = await startFaultProxy(address, httpUrl)
  const bundle = join(await ensureBundles(), 'workerd.js')
  const service = await workerdOf(bundle)({
    SERVICE_CATALOG_ID: 'any',
    SERVICE_ALLOW_ANONYMOUS: 'true',
    ENGINE_HTTP_URL: proxy.httpUrl ?? '',
  })
  const { url, stop } = service
  const catalog = `hangs-${crypto.randomUUID()}`
  proxy.on({ method: 'DescribeWorkflowExecution', containing: catalog, fault: 'hang', times: 1 })
  const client = connect(Number(new URL(url).port), '127.0.0.1')
  await once(client, 'connect')
  client.write(`GET /workflow/catalog/${catalog} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  await until('the catalog read stalls', () => proxy.hanging() === 1)
  client.resetAndDestroy()

  const { status } = await fetch(`${url}/workflow/catalog/${catalog}`)
  await stop()
  await proxy.stop()

  expect(status).toBe(404)
})
