/** Arguments that no JSON stands for: bytes and protobuf messages, to a worker in Python. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { test as baseTest } from '../../support/fixtures.ts'
import { startPythonWorker } from '../../support/python-worker.ts'

const test = baseTest.extend('worker', { scope: 'file' }, async ({ engine, catalog, cleanup }) => {
  const worker = await startPythonWorker({ address: engine.address, taskQueue: catalog })
  cleanup.defer(() => worker.stop())
  return worker
})

const bytes = (base64: string) => ({ metadata: { encoding: 'binary/plain' }, data: base64 })
const PAUSE = { metadata: { encoding: 'json/protobuf', messageType: 'google.protobuf.Duration' }, value: '90s' }

test('payloads: starts and messages send bytes and protobuf, an activity returns bytes', async ({ service }) => {
  const start = { workflowName: 'py_bytes', workflowId: `bytes-${crypto.randomUUID()}` }
  const payloads = [bytes('AQI='), PAUSE]

  const validated = await service.post('validate', { workflowName: 'py_bytes', payloads })
  const started = await service.post('start', { ...start, payloads })
  const signaled = await service.post(`${start.workflowId}/signal/add`, { payloads: [bytes('Aw==')] })
  const updated = await service.post(`${start.workflowId}/update/append`, { payloads: [bytes('BA')] })
  const counted = await service.post(`${start.workflowId}/query/count`, { payloads: [bytes('AQI=')] })
  await until('its activity runs', async () => {
    const { body } = await service.get(`${start.workflowId}/trace-log`)
    return body.data.children.some(({ kind }: { kind: string }) => kind === 'step')
  })
  const completed = await service.post(`${start.workflowId}/activities/last/complete`, { payloads: [bytes('_w')] })
  const { body } = await service.get(`${start.workflowId}/result?wait=60s`)

  const statuses = [validated, started, signaled, updated, counted, completed].map(({ status }) => status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200])
  expect([updated.body, counted.body]).toEqual([3, 1])
  expect(body.output).toBe('01020304ff after 90 s')
})

test('payloads: with-start requests send those of the message, and inputPayloads to the workflow', async ({
  service,
}) => {
  const start = { workflowName: 'py_bytes', inputPayloads: [bytes('AQ=='), PAUSE] }

  const updated = await service.post('update-with-start/append', {
    ...start,
    payloads: [bytes('Ag==')],
    workflowId: `bytes-${crypto.randomUUID()}`,
    workflowIdConflictPolicy: 'fail',
  })
  const signaled = await service.post('signal-with-start/add', { ...start, payloads: [bytes('Ag==')] })
  const counted = await service.post(`${signaled.body.workflowId}/query/count`, { payloads: [bytes('Ag==')] })

  expect(updated.body).toMatchObject({ started: true, result: 1 })
  expect(counted.body).toBe(1)
})

test('payloads: a protobuf message in either encoding is the parameter, and its result is JSON', async ({
  service,
}) => {
  // A google.protobuf.Duration of 90 seconds.
  const binary = { metadata: { encoding: 'binary/protobuf', messageType: 'google.protobuf.Duration' }, data: 'CFo=' }

  const runs = await Promise.all(
    [PAUSE, binary].map((payload) => service.post('run', { workflowName: 'py_pause', payloads: [payload] })),
  )

  expect(runs.map(({ body }) => [body.status, body.output])).toEqual([
    ['completed', '90s'],
    ['completed', '90s'],
  ])
})

test('payloads: values stay exact beyond 2^53', async ({ service }) => {
  const text =
    '{"workflowName":"py_big_numbers","payloads":[{"metadata":{"encoding":"json/plain"},"value":9007199254740993}]}'

  const run = await service.post('run', text)

  expect(run.text).toContain('"given":9007199254740993')
})

test('payloads: a request that is repeated with its key is the same, one with a value instead is not', async ({
  service,
}) => {
  const key = { 'Idempotency-Key': crypto.randomUUID() }
  const given = { metadata: { encoding: 'json/plain' }, value: 7 }
  const body = { workflowName: 'py_big_numbers', payloads: [given] }

  const first = await service.post('start', body, key)
  const second = await service.post('start', body, key)
  const other = await service.post('start', { workflowName: 'py_big_numbers', args: [given] }, key)

  expect([first.status, second.status, other.status]).toEqual([200, 200, 422])
  expect(second.body.runId).toBe(first.body.runId)
})
