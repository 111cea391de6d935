/** One-use links on each runtime, whose `crypto` and forms differ. */
import { expect } from 'vitest'
import type { EngineAddresses } from '../../dev/servers/engine.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeApi } from '../support/api.ts'
import { EVERY_RUNTIME } from '../support/entries.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { damageToken } from '../support/forge-token.ts'
import { readiness } from '../support/readiness.ts'
import { testCatalog } from '../support/test-catalog.ts'
import { twentyAnswers } from '../support/twenty-answers.ts'

const BASE = 'https://portico.example'

const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))

const QUESTION = {
  title: 'Go on?',
  details: [{ label: 'Step', value: '2 & 3' }],
  choices: [
    { label: 'Yes, on', payload: { go: true }, comment: 'optional' },
    { label: 'No', style: 'danger' },
  ],
}

const ANSWER = { go: true, comment: 'schön' }

function envOf({ address, httpUrl }: EngineAddresses, catalog: string): Record<string, string> {
  return {
    SERVICE_CATALOG_ID: catalog,
    SERVICE_HOST: '127.0.0.1',
    ENGINE_ADDRESS: address,
    ENGINE_HTTP_URL: httpUrl ?? '',
    SERVICE_ALLOW_ANONYMOUS: 'true',
    SERVICE_SIGNING_KEY: Buffer.alloc(32, 9).toString('base64url'),
    SERVICE_PUBLIC_URL: BASE,
  }
}

for (const [runtime, start] of Object.entries(EVERY_RUNTIME)) {
  test(`${runtime}: a link of each kind answers once, with the form of its page, and a forged one does not (threat 64)`, {
    timeout: 240_000,
  }, async ({ engine, catalog, client, worker: _, onTestFinished }) => {
    const service = await start(envOf(engine, catalog))
    onTestFinished(() => service.stop())
    await readiness(makeApi({ url: service.url }))
    const startRun = (workflowType: string, args: object[] = []) =>
      client.workflow.start(workflowType, { workflowId: `link-${crypto.randomUUID()}`, taskQueue: catalog, args })
    const updated = await startRun('messages')
    const signaled = await startRun('messages')
    const completed = await startRun('completesOutside', [{}])
    await until('the activity waits', async () => (await completed.describe()).raw.pendingActivities?.length === 1)
    const answerOnce = async ({ workflowId }: { workflowId: string }, action: object) => {
      const created = await fetch(`${service.url}/workflow/${workflowId}/links`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...QUESTION, ...action }),
      })
      const path = (await created.json()).url.slice(BASE.length)
      const send = (form: string, to = path) =>
        fetch(`${service.url}${to}`, {
          method: 'POST',
          headers: { Accept: 'text/html' },
          body: new URLSearchParams(form),
        })
      const page = await fetch(`${service.url}${path}`, { headers: { Accept: 'text/html' } })
      const forged = await send('choice=No', damageToken(path))
      const answered = await send('choice=Yes%2C+on&comment=sch%C3%B6n')
      const other = await send('choice=No')
      const answers = [created, page, forged, answered, other]
      return { statuses: answers.map(({ status }) => status), page, answered, other }
    }

    const answers = [
      await answerOnce(updated, { update: 'set' }),
      await answerOnce(signaled, { signal: 'add' }),
      await answerOnce(completed, { complete: { activityId: 'approval' } }),
    ]

    expect(answers.map(({ statuses }) => statuses)).toEqual(Array(3).fill([201, 200, 404, 200, 409]))
    for (const { page, answered, other } of answers) {
      const html = await page.text()
      expect(html).toContain('<dt>Step</dt><dd>2 &amp; 3</dd>')
      expect(html).toContain('(in 24 hours)')
      expect(html).toContain('<button class="danger" name="choice" value="No">')
      expect(await answered.text()).toContain('Recorded: <strong>Yes, on</strong>')
      expect(await other.text()).toContain('Recorded: <strong>Yes, on</strong>')
    }
    expect(await updated.query('state')).toMatchObject({ value: ANSWER })
    expect(await signaled.query('state')).toMatchObject({ gathered: [ANSWER] })
    expect(await completed.result()).toEqual([ANSWER])
  })

  test(`${runtime}: of twenty answers to a question, by API, agents and link at two replicas, one is recorded (threat 92)`, {
    timeout: 240_000,
  }, async ({ engine, catalog, client, worker: _, onTestFinished }) => {
    const [one, other] = await Promise.all(
      [1, 2].map(async () => {
        const { url, stop } = await start(envOf(engine, catalog))
        onTestFinished(stop)
        const api = makeApi({ url })
        await readiness(api)
        return api
      }),
    )
    if (one === undefined || other === undefined) return expect.unreachable()
    const workflowId = `asking-${crypto.randomUUID()}`
    const { body: run } = await one.start('asksPerson', {}, { workflowId })
    const link = () => one.post(`${workflowId}/links`, { question: 'question-1' })
    const created = await until('it asks', async () => {
      const { status, body } = await link()
      return status === 201 && body
    })

    const recorded = await twentyAnswers(run, created.url.slice(BASE.length), (person) => {
      const api = person % 2 === 0 ? one : other
      return { api, holder: api }
    })

    expect(await client.workflow.getHandle(workflowId).result()).toEqual([recorded])
  })
}
