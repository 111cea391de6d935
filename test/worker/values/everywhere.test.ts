/**
 * Values beside a secret that are not JSON as `JSON.parse` reads it, or not JSON at all, written by a worker with a
 * payload converter of its own: everywhere where a value is shown or stored.
 */
import { randomBytes } from 'node:crypto'
import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { tracedEnv } from '../../../dev/servers/traced-worker.ts'
import { untilPolled } from '../../../dev/servers/worker.ts'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { parseJson } from '../../../src/shared/lib/json.ts'
import { payloadToWire } from '../../../src/shared/temporal/payload-wire.ts'
import { STREAM_PUBLISH } from '../../../src/shared/wire/stream.ts'
import { parseTraceDocument } from '../../../src/shared/wire/trace/document.ts'
import { spansFile, spansKey } from '../../../src/shared/wire/trace/keys.ts'
import type { TraceNode } from '../../../src/shared/wire/trace/tree.ts'
import { deliveryQueue } from '../../../src/worker/closed-runs/webhooks/deliver.ts'
import { defineCatalog, parseWebhooksConfig, type Redact } from '../../../src/worker/index.ts'
import { activityCalls } from '../../conformance/activities-alone.ts'
import type { Answer, Api } from '../../support/api.ts'
import { archivedTrace } from '../../support/archived-trace.ts'
import { test as baseTest } from '../../support/fixtures.ts'
import { readiness } from '../../support/readiness.ts'
import { nodesIn } from '../../support/trace-nodes.ts'
import { newSecret, startWebhookReceiver } from '../../support/webhook-receiver.ts'
import * as activities from './activities.ts'
import { payloadOf } from './converter.ts'
import { KINDS, type KindName, redactedAs, SECRET, shownAs } from './kinds.ts'
import { CLOSED, NO_PLACES, OPEN, type Place, PUBLIC_URL, showingEndpoints } from './places.ts'

const payloadConverterPath = fileURLToPath(new URL('./converter.ts', import.meta.url))
const SIGNING_KEY = randomBytes(32).toString('base64url')
const workflowsPath = new URL('./workflows.ts', import.meta.url)

const test = baseTest
  .extend('receiver', { scope: 'file' }, async ({ cleanup }) => {
    const receiver = await startWebhookReceiver()
    cleanup.defer(() => receiver.close())
    return receiver
  })
  /** Starts a worker that archives its runs to `folder`, and sends webhooks to the path `/<name>`. */
  .extend('startSender', { scope: 'file' }, ({ receiver, startTracedWorker, connection }) => {
    return async (name: string, taskQueue: string, redact?: Redact) => {
      const hook = { url: `${receiver.url}/${name}`, secretEnv: ['SERVICE_WEBHOOK_TEST'], workflows: ['carries'] }
      const endpoints = { [name]: { ...hook, include: ['output', 'error'] } }
      const webhooks = parseWebhooksConfig({
        SERVICE_WEBHOOK_TEST: newSecret(),
        SERVICE_WEBHOOKS: JSON.stringify({ version: 1, endpoints }),
      })
      await startTracedWorker({
        taskQueue,
        plugin: { catalog: defineCatalog({ carries: {}, returns: {} }), webhooks, ...(redact && { redact }) },
        workflowsPath,
        activities,
        options: { dataConverter: { payloadConverterPath } },
      })
      await untilPolled(connection, 'default', deliveryQueue(name, taskQueue), 'activities')
    }
  })
  .extend('serviceProcess', { scope: 'file' }, async ({ startSender, startService, catalog, folder }) => {
    await startSender('all', catalog)
    const service = await startService({
      env: { SERVICE_TRACE_LOCAL_DIR: folder, SERVICE_SIGNING_KEY: SIGNING_KEY, SERVICE_PUBLIC_URL: PUBLIC_URL },
    })
    await readiness(service)
    return service
  })
  /** Signals `finish`, and waits for the end of the run. */
  .extend('finish', { scope: 'file' }, ({ client, connection }) => {
    return async (workflowId: string, as: KindName) => {
      await connection.workflowService.signalWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId },
        signalName: 'finish',
        input: { payloads: [payloadOf(as)] },
        requestId: crypto.randomUUID(),
      })
      await client.workflow
        .getHandle(workflowId)
        .result()
        .catch(() => {})
    }
  })
  /** Starts a run whose arguments, memo, header, texts and stream have the value; resolves when all of it is there. */
  .extend('startRun', { scope: 'file' }, ({ client, connection, catalog, serviceProcess: service }) => {
    return async (as: KindName, isFailing: boolean, queue = catalog) => {
      const payload = payloadOf(as)
      const workflowId = `${as}-${crypto.randomUUID()}`
      const { runId } = await connection.workflowService.startWorkflowExecution({
        namespace: 'default',
        requestId: crypto.randomUUID(),
        workflowId,
        workflowType: { name: 'carries' },
        taskQueue: { name: queue },
        input: { payloads: [payload, json(isFailing)] },
        memo: { fields: { started: payload } },
        header: { fields: { 'x-note': payload } },
        userMetadata: { summary: payload, details: payload },
      })
      const items = [{ topic: 'notes', data: payloadToWire(payload) }]
      await client.workflow.getHandle(workflowId).signal(STREAM_PUBLISH, { items, publisher_id: '', sequence: 0 })
      await until('it reports its progress, and an activity will be retried', async () => {
        const { body } = await service.get(`${workflowId}/explain`)
        const { body: status } = await service.get(`${workflowId}/status`)
        return body.verdict === 'activity_retrying' && status.progress !== null
      })
      return { workflowId, runId }
    }
  })

const encoder = new TextEncoder()

function json(value: unknown) {
  return { metadata: { encoding: encoder.encode('json/plain') }, data: encoder.encode(JSON.stringify(value)) }
}

/** Whether the text has the secret, as it is or in base64, also inside of base64. */
function hasSecret(text: string): boolean {
  if (text.includes(SECRET)) return true
  return [...text.matchAll(/[\w+/-]{12,}={0,2}/g)].some(([run]) => hasSecret(Buffer.from(run, 'base64').toString()))
}

function expectShown(as: KindName, { name, has }: Pick<Place, 'has' | 'name'>, text: string): void {
  if (has === 'value') expect(text, name).toContain(shownAs(as))
  if (has === 'redacted') expect(text, name).toContain(redactedAs(as))
  if (has !== 'value') expect(hasSecret(text), `${name}: ${text}`).toBe(false)
}

const NAMES = Object.keys(KINDS) as KindName[]

test.for(NAMES)(
  'a run with %s: no response and no file shows its secret, results and messages show the value (threat 86)',
  async (as, { serviceProcess: service, startRun, finish, folder, receiver }) => {
    for (const isFailing of [false, true]) {
      const run = await startRun(as, isFailing)
      for (const place of OPEN) expectShown(as, place, await place.read(service, run, { as }))

      await finish(run.workflowId, as)
      for (const place of CLOSED) expectShown(as, place, await place.read(service, run, { as }))
      await archivedTrace(folder, run.runId)
      const [archive, log] = [
        await readFile(fileOf(folder, run.runId), 'utf8'),
        await service.get(`${run.workflowId}/trace-log`),
      ]
      expectShown(as, { name: 'archive', has: 'redacted' }, archive)
      expectShown(as, { name: 'archived trace-log', has: 'redacted' }, log.text)
      expect(log.body.source).toBe('local')
      const message = await until('its webhook has arrived', () =>
        receiver.at('/all').find(({ body }) => body.includes(run.workflowId)),
      )
      expectShown(as, { name: 'webhook', has: 'value' }, message.body)
    }
  },
)

test.for(NAMES)(
  'history and traces have %s in every event and node, redacted (threat 86)',
  async (as, { serviceProcess: service, startRun, finish }) => {
    const run = await startRun(as, true)
    await finish(run.workflowId, as)
    const times = (text: string) => text.split(redactedAs(as)).length - 1

    const { events } = await readExactly(service, `${run.workflowId}/history?pageSize=1000`)
    const { data } = await readExactly(service, `${run.workflowId}/trace-log`)

    const inEvents = events.filter((event) => times(JSON.stringify(event)) > 0).map(({ eventType }) => eventType)
    expect(new Set(inEvents)).toEqual(
      new Set([
        'WorkflowExecutionStarted',
        'WorkflowPropertiesModified',
        'ActivityTaskScheduled',
        'ActivityTaskCompleted',
        'ActivityTaskFailed',
        'MarkerRecorded',
        'StartChildWorkflowExecutionInitiated',
        'ChildWorkflowExecutionCompleted',
        'WorkflowExecutionSignaled',
        'WorkflowExecutionFailed',
      ]),
    )
    const own = nodesIn(data).map(({ children: _, ...node }) => [node.name, times(JSON.stringify(node))])
    expect(own).toEqual(
      expect.arrayContaining([
        ['carries', 2],
        ['passes', 3],
        ['fails', 2],
        [STREAM_PUBLISH, 1],
        ['returns', 2],
        ['finish', 1],
      ]),
    )
  },
)

test('webhooks of a worker with `redact` show no secret', async ({
  serviceProcess: _,
  startSender,
  startRun,
  finish,
  receiver,
}) => {
  const queue = `redacts-${crypto.randomUUID()}`
  await startSender('redacted', queue, (_path, value) => value)
  for (const as of NAMES) {
    for (const isFailing of [false, true]) {
      const { workflowId } = await startRun(as, isFailing, queue)
      await finish(workflowId, as)
      const message = await until('its webhook has arrived', () =>
        receiver.at('/redacted').find(({ body }) => body.includes(workflowId)),
      )
      expectShown(as, { name: `webhook, ${isFailing ? 'failed' : 'completed'}`, has: 'redacted' }, message.body)
    }
  }
})

test.for(NAMES)('a run that the API starts returns %s', async (as, { serviceProcess: service }) => {
  const { text } = await service.run('returns', { as })
  const { text: events } = await service.post(
    'run',
    { workflowName: 'returns', input: { as } },
    { Accept: 'text/event-stream' },
  )

  expect(text).toContain(shownAs(as))
  expect(events).toContain(shownAs(as))
})

test.for(NAMES)(
  'a schedule shows %s in its arguments, and redacted elsewhere (threat 86)',
  async (as, { serviceProcess: service, connection, catalog }) => {
    const [payload, scheduleId] = [payloadOf(as), `${as}-${crypto.randomUUID()}`]
    const startWorkflow = {
      ...{ workflowId: scheduleId, workflowType: { name: 'carries' }, taskQueue: { name: catalog } },
      ...{ input: { payloads: [payload] }, memo: { fields: { started: payload } } },
      ...{ header: { fields: { 'x-note': payload } }, userMetadata: { summary: payload, details: payload } },
    }
    const schedule = { spec: { cronString: ['@daily'] }, action: { startWorkflow } }
    const requestId = crypto.randomUUID()
    await connection.workflowService.createSchedule({ namespace: 'default', scheduleId, requestId, schedule })

    const { text } = await service.call('GET', `/schedules/${scheduleId}`)

    const { args, memo, ...others } = parseJson(text) as Record<string, unknown>
    expectShown(as, { name: 'args', has: 'value' }, JSON.stringify(args))
    expectShown(as, { name: 'memo', has: 'redacted' }, JSON.stringify(memo))
    expectShown(as, { name: 'others', has: 'nothing' }, JSON.stringify(others))
  },
)

test.for(NAMES)(
  'an activity without a workflow returns %s, and its state has it redacted (threat 86)',
  async (as, { serviceProcess: service, connection, catalog }) => {
    const start = async (type: string, ...more: object[]) => {
      const activityId = `${type}-${as}-${crypto.randomUUID()}`
      await connection.workflowService.startActivityExecution({
        ...{ namespace: 'default', requestId: crypto.randomUUID(), activityId, activityType: { name: type } },
        ...{ taskQueue: { name: catalog }, input: { payloads: [payloadOf(as), ...more] } },
        ...{ scheduleToCloseTimeout: { seconds: 600 as never }, heartbeatTimeout: { seconds: 60 as never } },
        header: { fields: { 'x-note': payloadOf(as) } },
      })
      return activityCalls(service, activityId)
    }
    const [passes, fails, reports] = [await start('passes'), await start('fails', json(true)), await start('reports')]
    const open = await until('it reports', async () => {
      const state = await reports.get('status')
      return state.body.progress !== null && state
    })
    await reports.post('terminate')
    const [result, failure] = [await passes.get('result?wait=20s'), await fails.get('result?wait=20s')]

    for (const { text } of [result, failure]) expectShown(as, { name: 'result', has: 'value' }, text)
    expectShown(as, { name: 'progress', has: 'redacted' }, open.text)
    for (const { get } of [passes, fails])
      expectShown(as, { name: 'state', has: 'nothing' }, (await get('status')).text)
  },
)

/** A span of another program whose output is the value: as it is written, or as a payload. */
function spanOf(runId: string, as: KindName, isPayload: boolean): string[] {
  const { encoding, text } = KINDS[as]
  const span = { id: `${runId}:span:${as}:${isPayload}`, parentId: runId, kind: 'llm', name: as, at: Date.now() }
  const payload = { metadata: { encoding: btoa(encoding) }, data: btoa(text) }
  const ended = isPayload
    ? JSON.stringify({ ...span, phase: 'ended', output: payload, encoded: ['/output'] })
    : JSON.stringify({ ...span, phase: 'ended', output: 0 }).replace('"output":0', `"output":${text}`)
  return [JSON.stringify({ ...span, phase: 'began' }), ended]
}

/** The same spans of every kind, in each place where they wait for the archive. */
function spansOf(runId: string): string[] {
  const written = (['notANumber', 'deepJson'] as const).flatMap((as) => spanOf(runId, as, false))
  return [...written, ...NAMES.flatMap((as) => spanOf(runId, as, true))]
}

function expectSpans({ status, body, text }: Answer, archive: string): void {
  // The archive keeps payloads, which only the codec of a worker may write: docs/trace-protocol.md.
  const { found } = parseTraceDocument(archive)
  const stored = JSON.stringify(found.entries.filter(({ encoded }) => encoded === undefined))
  // Its child may not be archived yet.
  const warnings = body.warnings.filter((warning: string) => !warning.startsWith('remote: The object storage has no'))
  expect([status, warnings, hasSecret(text), hasSecret(stored)]).toEqual([200, [], false, false])
  expect(stored).toContain('deepJson')
  const spans = nodesIn(body.data).filter(({ kind }) => kind === 'llm')
  expect(spans.filter(({ endedAt }) => typeof endedAt !== 'number')).toEqual([])
  // Spans of the same millisecond are in no particular order.
  const deep = spans.find(({ id }) => id.endsWith('deepJson:false'))
  expect(deep).toMatchObject({ name: 'deepJson', output: { password: '[redacted]' } })
  for (const as of NAMES) {
    const [ofKind] = spans.filter(({ id }) => id.endsWith(`${as}:true`)).map((node) => JSON.stringify(node))
    // Large integers have lost their digits here.
    expect([as, text.includes(redactedAs(as)), ofKind?.includes('[redacted]')]).toEqual([as, true, true])
  }
}

test('spans of other programs with values of each kind end, and show no secret (threat 86)', async ({
  serviceProcess: service,
  startRun,
  finish,
  folder,
}) => {
  const { workflowId, runId } = await startRun('foreign', false)
  const list = join(folder, spansFile(runId))
  await mkdir(dirname(list), { recursive: true })
  await appendFile(
    list,
    spansOf(runId)
      .map((line) => `${line}\n`)
      .join(''),
  )
  const open = await service.get(`${workflowId}/trace-log`)
  await finish(workflowId, 'foreign')

  const archive = await until('it is archived', async () => {
    const text = await readFile(fileOf(folder, runId), 'utf8')
    return text.includes('deepJson') && text
  })
  const closed = await service.get(`${workflowId}/trace-log`)

  for (const answer of [open, closed]) expectSpans(answer, archive)
  expect(closed.body.source).toBe('local')
})

test('the same in Redis and on S3 (threat 86)', async ({
  serviceProcess: _,
  startTracedWorker,
  startService,
  startRun,
  finish,
  redis,
  s3,
  kvStore,
}) => {
  const taskQueue = `stored-${crypto.randomUUID()}`
  const { accessKeyId, secretAccessKey, region, bucket, endpoint } = s3
  const storage = { accessKeyId, secretAccessKey, region, bucket, endpoint }
  const remote = { storage, kvstore: { url: redis.url, token: null } }
  await startTracedWorker({
    taskQueue,
    plugin: {
      catalog: defineCatalog({ carries: {}, returns: {} }),
      traces: { remote, local: null, maxBytes: 1 << 20 },
    },
    workflowsPath,
    activities,
    options: { dataConverter: { payloadConverterPath } },
  })
  const service = await startService({ catalog: taskQueue, env: tracedEnv(redis, s3) })
  await readiness(service)
  for (const as of NAMES) {
    const { workflowId, runId } = await startRun(as, true, taskQueue)
    const call = { signal: AbortSignal.timeout(10_000), deadlineAt: Date.now() + 10_000 }
    await kvStore.append(spansKey('default', runId), spansOf(runId), 60_000, call)
    const open = await service.get(`${workflowId}/trace-log`)
    await finish(workflowId, as)
    const closed = await until('it is archived', async () => {
      const answer = await service.get(`${workflowId}/trace-log`)
      return answer.body.source === 'remote' && answer.text.includes('deepJson') && answer
    })
    const archive = await (await s3.client.fetch(`${endpoint}/${bucket}/traces/default/${runId}.json`)).text()

    for (const answer of [open, closed]) expectSpans(answer, archive)
    expect(archive).toContain(redactedAs(as))
  }
})

test('places: they are all endpoints whose response can have any JSON or events, except those with a reason', async () => {
  const places = new Set([...OPEN, ...CLOSED].map(({ endpoint }) => endpoint))
  const showing = await showingEndpoints()

  expect(showing.filter((id) => !places.has(id) && !(id in NO_PLACES))).toEqual([])
  expect(Object.keys(NO_PLACES).filter((id) => places.has(id) || !showing.includes(id))).toEqual([])
  expect(showing.length).toBeGreaterThan(20)
})

/** With all digits of its numbers. */
async function readExactly(service: Api, path: string): Promise<{ events: { eventType: string }[]; data: TraceNode }> {
  return parseJson((await service.get(path)).text) as { events: { eventType: string }[]; data: TraceNode }
}

function fileOf(folder: string, runId: string): string {
  return join(folder, 'default', `${runId}.json`)
}
