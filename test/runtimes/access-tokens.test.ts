/** Access tokens on each runtime, with a real run (threat 31). */
import { createHash } from 'node:crypto'
import { Client, Connection } from '@temporalio/client'
import { describe, expect, type TestContext } from 'vitest'
import { makeApi } from '../support/api.ts'
import { EVERY_RUNTIME, RUNTIMES } from '../support/entries.ts'
import { test } from '../support/fixtures.ts'
import { damageToken } from '../support/forge-token.ts'
import { readiness } from '../support/readiness.ts'

const BACKEND = 'ptc_of-the-backend'
const HASH = createHash('sha256').update(BACKEND).digest('hex')

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64url')

type Context = Pick<TestContext, 'onTestFinished'> & { engine: { address: string } }

async function serve(
  runtime: keyof typeof EVERY_RUNTIME,
  { engine: { address }, onTestFinished }: Context,
  signingKey = keyOf(1),
) {
  const policy = {
    version: 1,
    rules: [{ name: 'web', who: { token: `sha256:${HASH}` }, can: ['read', 'delegate'], ids: ['u:*'] }],
  }
  const service = await EVERY_RUNTIME[runtime]({
    SERVICE_CATALOG_ID: 'any',
    SERVICE_HOST: '127.0.0.1',
    SERVICE_API_AUTH_TOKEN: 'operator-s3cret',
    SERVICE_POLICY: JSON.stringify(policy),
    SERVICE_SIGNING_KEY: signingKey,
    ENGINE_ADDRESS: address,
  })
  onTestFinished(service.stop)
  const { call } = makeApi({ url: service.url })
  await readiness({ call })
  const get = (path: string, token: string, headers = {}) =>
    call('GET', path, undefined, { Authorization: `Bearer ${token}`, ...headers })
  const getWithUrl = (path: string, token: string) =>
    fetch(`${service.url}${path}?access_token=${token}`, { headers: { Accept: 'text/event-stream' } })
  async function tokenOf(body: object): Promise<string> {
    const response = await call('POST', '/tokens', body, { Authorization: `Bearer ${BACKEND}` })
    expect(response.status, response.text).toBe(201)
    return response.body.token
  }
  return { get, getWithUrl, tokenOf, output: service.output }
}

/** A run that no worker executes. */
async function startRun({ engine: { address }, onTestFinished }: Context): Promise<string> {
  const connection = await Connection.connect({ address })
  onTestFinished(() => connection.close())
  const workflowId = `u:${crypto.randomUUID()}`
  const run = await new Client({ connection }).workflow.start('any', { taskQueue: 'no-worker', workflowId })
  onTestFinished(async () => void (await run.terminate()))
  return workflowId
}

describe.concurrent.for(RUNTIMES)('access tokens on %s', (runtime) => {
  test('a token opens what it names and nothing else, and no other gateway accepts it (threat 31)', async ({
    engine,
    onTestFinished,
  }) => {
    const context = { engine, onTestFinished }
    const [{ get, tokenOf }, other, id] = await Promise.all([
      serve(runtime, context),
      serve(runtime, context, keyOf(2)),
      startRun(context),
    ])
    const token = await tokenOf({ can: ['read'], ids: [id] })
    const path = `/workflow/${id}/status`

    const ids = [id, 'u:other', 'v:other'].map(async (one) => (await get(`/workflow/${one}/status`, token)).status)
    const tokens = [damageToken(token), 'ptk_'].map(async (forged) => (await get(path, forged)).status)

    expect(await Promise.all(ids)).toEqual([200, 403, 403])
    expect(await Promise.all(tokens)).toEqual([401, 401])
    expect((await get('/workflow/runs', token)).status).toBe(403)
    expect((await other.get(path, token)).status).toBe(401)
    expect((await get('/capabilities', token)).body.features.tokens).toBe(true)
  })

  test('a stream and a wait end when the token expires, the wait with the ids of the run, and no output has the token (threat 31)', async ({
    engine,
    onTestFinished,
  }) => {
    const context = { engine, onTestFinished }
    const [{ get, getWithUrl, tokenOf, output }, id] = await Promise.all([serve(runtime, context), startRun(context)])
    const warm = await tokenOf({ can: ['read'] })
    await get(`/workflow/${id}/status`, warm)
    // On a busy machine each request may take 4.5 s (src/service/model/deadlines.ts) to begin.
    const token = await tokenOf({ can: ['read'], expiresIn: '15s' })

    const [history, events, wait] = await Promise.all([
      getWithUrl(`/workflow/${id}/history/stream`, token),
      getWithUrl(`/workflow/${id}/result`, token),
      get(`/workflow/${id}/result?wait=60s`, token),
    ])
    const [historyText, eventsText] = await Promise.all([history.text(), events.text()])
    const after = await getWithUrl(`/workflow/${id}/history/stream`, token)

    expect([history.status, events.status, wait.status, after.status]).toEqual([200, 200, 424, 401])
    expect(historyText).toContain('event: workflow')
    expect(historyText).not.toContain('server_error')
    expect(eventsText).toContain('event: timeout')
    expect(wait.body).toMatchObject({
      error: 'WorkflowExecutionTimedOutError',
      message: 'The credential has expired; continue at Location with a new one',
      workflowId: id,
    })
    expect(wait.body.runId).toMatch(/^[\da-f-]{36}$/)
    expect([history, events, after].map(({ headers }) => headers.get('Referrer-Policy'))).toEqual(
      Array(3).fill('no-referrer'),
    )
    expect(output()).not.toContain(token.slice(4, 40))
    expect(output()).not.toContain('access_token')
  })
})
