import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { publishCatalog } from '../../../src/worker/catalog/publish-catalog.ts'
import type { Answer } from '../../support/api.ts'
import { testCatalog } from '../../support/test-catalog.ts'
import { type ApiFixture, anId } from './api-fixture.ts'

type Refusal = [status: number, error: unknown, paths: unknown]

/** Invalid input: the error names the problem, and nothing is started. */
export function badInput(api: () => ApiFixture): void {
  function refusal({ status, body }: Answer): Refusal {
    return [status, body.error, body.issues?.map(({ path }: { path: string }) => path)]
  }

  function invalid(...paths: string[]): Refusal {
    return [400, 'ValidationError', paths]
  }

  /** What `run` and `start` answer; every body names a catalog of its own, on which nothing must have been started. */
  async function refusals(bodies: unknown[]): Promise<Refusal[]> {
    const { client, service } = api()
    const catalog = `bad-input-${randomUUID()}`
    const { connection } = client
    await publishCatalog({
      connection,
      namespace: 'default',
      catalog,
      definition: testCatalog,
      traces: false,
      identity: 'test',
    })
    const sent = bodies.map((body) =>
      typeof body === 'string' || body instanceof Uint8Array ? body : { catalog, ...Object(body) },
    )

    const ran = await Promise.all(sent.map((body) => service.call('POST', '/workflow/run', body)))
    const started = await Promise.all(sent.map((body) => service.call('POST', '/workflow/start', body)))

    expect(started.map(refusal)).toEqual(ran.map(refusal))
    const good = await service.start('echo', 1, { catalog })
    // Once the good one is counted all that came before it would be.
    const count = () => client.workflow.count(`TaskQueue = '${catalog}'`)
    await until('the good one is counted', async () => (await count()).count > 0)
    expect((await count()).count).toBe(1)
    await service.call('POST', `/workflow/${good.body.workflowId}/terminate`)
    return ran.map(refusal)
  }

  test('bad input: a body that is not an object is rejected', async () => {
    const bodies = [
      '{"workflowName":',
      'nope',
      '',
      '   ',
      '[]',
      '[{"workflowName":"echo","input":1}]',
      'null',
      '"echo"',
      '17',
      'true',
      '\ufeff{}',
    ]

    const told = await refusals(bodies)

    expect(told).toEqual([
      [400, 'ValidationError', undefined],
      [400, 'ValidationError', undefined],
      invalid('/workflowName', ''),
      [400, 'ValidationError', undefined],
      ...Array.from({ length: 6 }, () => invalid('')),
      expect.arrayContaining([400, 'ValidationError']),
    ])
  })

  test('bad input: fields of the wrong type, including null, are rejected', async () => {
    const told = await refusals([
      { workflowName: 17, input: 1 },
      { workflowName: null, input: 1 },
      { workflowName: ['echo'], input: 1 },
      { workflowName: 'echo' },
      { workflowName: 'echo', input: 1, args: [1] },
      { workflowName: 'echo', args: null },
      { workflowName: 'echo', args: { 0: 1 } },
      { workflowName: 'echo', input: 1, workflowId: 17 },
      { workflowName: 'echo', input: 1, workflowId: null },
      { workflowName: 'echo', input: 1, catalog: null },
      { workflowName: 'echo', input: 1, taskQueue: {} },
    ])

    expect(told).toEqual([
      invalid('/workflowName'),
      invalid('/workflowName'),
      invalid('/workflowName'),
      invalid(''),
      invalid(''),
      invalid('/args'),
      invalid('/args'),
      invalid('/workflowId'),
      invalid('/workflowId'),
      invalid('/catalog'),
      invalid('/taskQueue'),
    ])
  })

  test('bad input: unknown keys are named', async () => {
    const told = await refusals([
      { workflowName: 'echo', input: 1, workflowid: 'x' },
      { workflowName: 'echo', input: 1, 'a/b~c': 1, urgency: 2 },
      '{"workflowName":"echo","input":1,"__proto__":{"catalog":"x"}}',
      '{"workflowName":"echo","input":1,"toString":1}',
    ])

    expect(told).toEqual([
      invalid('/workflowid'),
      invalid('/a~1b~0c', '/urgency'),
      invalid('/__proto__'),
      invalid('/toString'),
    ])
  })

  test('bad input: reserved names and names of object properties are rejected', async () => {
    const names = [
      '__proto__',
      'toString',
      'constructor',
      '',
      '$catalog',
      '$',
      '__temporal_x',
      'nul\0',
      '\ud800',
      'x'.repeat(1001),
    ]

    const told = await refusals(names.map((workflowName) => ({ workflowName, input: 1 })))

    expect(told).toEqual([
      ...Array.from({ length: 3 }, (): Refusal => [424, 'UnsupportedWorkflowError', undefined]),
      ...Array.from({ length: 7 }, () => invalid('/workflowName')),
    ])
  })

  test('bad input: workflow ids', async () => {
    const ids = [
      '',
      '.',
      '..',
      'catalog',
      'runs',
      'signal-with-start',
      'update-with-start',
      '$x',
      '__temporal_x',
      '\udc00',
      'nul\0',
      'ü'.repeat(501),
    ]

    const told = await refusals(ids.map((workflowId) => ({ workflowName: 'echo', input: 1, workflowId })))

    expect(told).toEqual(ids.map(() => invalid('/workflowId')))
  })

  test('bad input: catalogs', async () => {
    const names = ['', '/_sys/x', '__temporal_x', 'nul\0', '\ud800', 'x'.repeat(992)]

    const told = await refusals([
      ...names.map((catalog) => ({ workflowName: 'echo', input: 1, catalog })),
      ...names.map((taskQueue) => ({ workflowName: 'echo', input: 1, taskQueue })),
    ])

    expect(told).toEqual([...names.map(() => invalid('/catalog')), ...names.map(() => invalid('/taskQueue'))])
  })

  test('bad input: timeouts', async () => {
    const timeouts = [
      '0',
      '-1',
      '1e300',
      '1e999',
      '"x"',
      '"30"',
      '"-1s"',
      '"0s"',
      '"1e3s"',
      '"25h"',
      '86400001',
      'null',
      'true',
      '[30]',
      '{}',
    ]

    const told = await refusals(timeouts.map((timeout) => `{"workflowName":"echo","input":1,"timeout":${timeout}}`))

    expect(told).toEqual(timeouts.map(() => invalid('/timeout')))
  })

  test('bad input: JSON nested deeper than 1000 levels and invalid UTF-8 are rejected', async () => {
    const deep = `{"workflowName":"echo","input":${'['.repeat(1000)}${']'.repeat(1000)}}`
    const latin1 = Buffer.from('{"workflowName":"echo","input":"\xe9"}', 'latin1')

    const told = await refusals([deep, latin1])

    expect(told).toEqual([
      [400, 'ValidationError', undefined],
      [400, 'ValidationError', undefined],
    ])
  })

  test('bad input: a syntax error is reported with its position, the same on every runtime', async () => {
    const { service } = api()
    const bodies = [
      '{bad',
      '{"workflowName": "echo",\n "input": 1,}',
      '{"workflowName"',
      '{"a":"\u0007"}',
      '[}',
      `{"input":${'['.repeat(1000)}`,
    ]

    const answers = await Promise.all(bodies.map((body) => service.call('POST', '/workflow/run', body)))

    expect(answers.map(({ status, body }) => [status, body.message])).toEqual([
      [400, 'The request body is not valid JSON: unexpected character at line 1, column 2'],
      [400, 'The request body is not valid JSON: unexpected character at line 2, column 13'],
      [400, 'The request body is not valid JSON: unexpected end at line 1, column 16'],
      [400, 'The request body is not valid JSON: unexpected character at line 1, column 7'],
      [400, 'The request body is not valid JSON: unexpected character at line 1, column 2'],
      [400, 'The request body is not valid JSON: unexpected end at line 1, column 1010'],
    ])
  })

  test('bad input: the error for a handler value without payload or args says how to send it', async () => {
    const { service } = api()
    const messageOf = async (kind: string, body: unknown) =>
      (await service.call('POST', `/workflow/${anId()}/${kind}/any`, body)).body.message

    expect(await messageOf('update', { sku: 'x' })).toBe('/sku is not a known field; wrap the value: {"payload": …}')
    expect(await messageOf('signal', { input: 1 })).toBe('/input is not a known field; wrap the value: {"payload": …}')
    expect(await messageOf('query', '17')).toMatch(/^The body must be .*; wrap the value: \{"payload": …\}$/)
    expect(await messageOf('update', [1, 2])).toMatch(
      /; wrap the value: \{"payload": …\}, or \{"args": \[…\]\} for several arguments$/,
    )
    expect(await messageOf('update', { payload: 1, sku: 'x' })).toBe('/sku is not a known field')
  })

  test('bad input: payload together with args, unknown keys, and args that are not an array are rejected', async () => {
    const { service } = api()
    const bodies = [
      { payload: 1, args: [1] },
      { args: 1 },
      { args: null },
      { args: { 0: 1 } },
      { input: 1 },
      [1],
      'null',
      '1',
      '{"payload":',
    ]

    const answers = await Promise.all(
      bodies.flatMap((body) =>
        ['signal', 'query', 'update'].map((kind) => service.call('POST', `/workflow/${anId()}/${kind}/x`, body)),
      ),
    )

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(answers.map(() => [400, 'ValidationError']))
  })

  test('bad input: handler names', async () => {
    const { service } = api()
    const names = [
      '$x',
      '__stack_trace',
      '__temporal_workflow_metadata',
      '__proto__',
      '%00',
      '%ED%A0%80',
      '%zz',
      '%',
      'x'.repeat(1001),
    ]

    const answers = await Promise.all(
      names.flatMap((name) =>
        ['signal', 'query', 'update'].map((kind) => service.call('POST', `/workflow/${anId()}/${kind}/${name}`)),
      ),
    )

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(answers.map(() => [400, 'ValidationError']))
  })

  test('bad input: ids in a path', async () => {
    const { service } = api()
    const ids = [
      '$x',
      '__temporal_x',
      'catalog',
      'runs',
      '%00',
      '%ED%A0%80',
      '%C3%28',
      '%zz',
      '%',
      'x'.repeat(1001),
      '%C3%BC'.repeat(501),
    ]

    const answers = await Promise.all(ids.map((id) => service.call('GET', `/workflow/${id}/status`)))
    const runIds = await Promise.all(
      ['1', '%20', 'null', `${randomUUID()}0`].map((id) => service.call('GET', `/workflow/w/runs/${id}/status`)),
    )
    const catalogs = await Promise.all(
      ['%00', 'x'.repeat(992), '__temporal_x', '%2F_sys%2Fx'].map((id) =>
        service.call('GET', `/workflow/catalog/${id}`),
      ),
    )

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [400, 'ValidationError'],
      [400, 'ValidationError'],
      [404, 'CatalogNotFoundError'], // GET /workflow/catalog/status
      ...Array.from({ length: 8 }, () => [400, 'ValidationError']),
    ])
    expect([...runIds, ...catalogs].map(({ status, body }) => [status, body.error])).toEqual(
      Array.from({ length: 8 }, () => [400, 'ValidationError']),
    )
  })

  test('bad input: reasons and keys of stop and terminate', async () => {
    const { service } = api()
    const { body } = await service.start('neverEnds')
    const bodies = [
      { reason: 1 },
      { reason: null },
      { reason: 'nul\0' },
      { reason: '\ud800' },
      { why: 'x' },
      [],
      'null',
    ]

    const answers = await Promise.all(
      bodies.flatMap((sent) => [
        service.call('PATCH', `/workflow/${body.workflowId}/stop`, sent),
        service.call('POST', `/workflow/${body.workflowId}/terminate`, sent),
      ]),
    )

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(answers.map(() => [400, 'ValidationError']))
    expect((await service.call('GET', `/workflow/${body.workflowId}/status`)).body.status).toBe('running')
    await service.call('POST', `/workflow/${body.workflowId}/terminate`)
  })
}
