/** One-use links on each runtime, whose `crypto` and forms differ. */
import { join } from 'node:path'
import { expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { FROM_SOURCE, type ServeEntry, workerdOf } from '../support/entries.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'

const RUNTIMES: Record<string, ServeEntry> = {
  ...FROM_SOURCE,
  workerd: async (env) => workerdOf(join(await ensureBundles(), 'workerd.js'))(env),
}

const BASE = 'https://portico.example'

const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))

for (const [runtime, start] of Object.entries(RUNTIMES)) {
  test(`${runtime}: a link answers its run once, with the form of its page, and a forged one does not`, {
    timeout: 240_000,
  }, async ({ engine, catalog, client, worker: _, onTestFinished }) => {
    const service = await start({
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      SERVICE_CATALOG_ID: catalog,
      SERVICE_PORT: '0',
      SERVICE_HOST: '127.0.0.1',
      ENGINE_ADDRESS: engine.address,
      ENGINE_HTTP_URL: engine.httpUrl ?? '',
      SERVICE_ALLOW_ANONYMOUS: 'true',
      SERVICE_SIGNING_KEY: Buffer.alloc(32, 9).toString('base64url'),
      SERVICE_PUBLIC_URL: BASE,
    })
    onTestFinished(() => service.stop())
    const workflowId = `link-${crypto.randomUUID()}`
    await client.workflow.start('messages', { workflowId, taskQueue: catalog })
    const created = await fetch(`${service.url}/workflow/${workflowId}/links`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        title: 'Go on?',
        update: 'set',
        choices: [{ label: 'Yes, on', payload: { go: true }, comment: 'optional' }, { label: 'No' }],
      }),
    })
    const path = (await created.json()).url.slice(BASE.length)
    const send = (form: string, to = path) =>
      fetch(`${service.url}${to}`, {
        method: 'POST',
        headers: { Accept: 'text/html' },
        body: new URLSearchParams(form),
      })

    const page = await fetch(`${service.url}${path}`, { headers: { Accept: 'text/html' } })
    const forged = await send('choice=No', `${path.slice(0, -2)}AA`)
    const answered = await send('choice=Yes%2C+on&comment=sch%C3%B6n')
    const other = await send('choice=No')

    expect([created.status, page.status, forged.status, answered.status, other.status]).toEqual([
      201, 200, 404, 200, 409,
    ])
    expect(await page.text()).toContain('<button name="choice" value="Yes, on">')
    expect(await answered.text()).toContain('Recorded: <strong>Yes, on</strong>')
    expect(await other.text()).toContain('Recorded: <strong>Yes, on</strong>')
    const { value } = await client.workflow.getHandle(workflowId).query<{ value: unknown }>('state')
    expect(value).toEqual({ go: true, comment: 'schön' })
  })
}
