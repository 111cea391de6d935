import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { publishCatalog } from '../../../src/worker/catalog/publish-catalog.ts'
import type { Answer } from '../../support/api.ts'
import { testCatalog } from '../../support/test-catalog.ts'
import { type ApiFixture, anId } from './api-fixture.ts'

type Rejection = [status: number, error: unknown, paths: unknown]

const NOT_JSON: Rejection = [400, 'ValidationError', undefined]

/** Invalid input: the error names the problem, and nothing is started. */
export function badInput(api: () => ApiFixture): void {
  function rejection({ status, body }: Answer): Rejection {
    return [status, body.error, body.issues?.map(({ path }: { path: string }) => path)]
  }

  function invalid(...paths: string[]): Rejection {
    return [400, 'ValidationError', paths]
  }

  /** What `run` and `start` answer; every body names a catalog of its own, on which nothing must have been started. */
  async function rejections(bodies: unknown[]): Promise<Rejection[]> {
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

    const ran = await Promise.all(sent.map((body) => service.post('run', body)))
    const started = await Promise.all(sent.map((body) => service.post('start', body)))

    expect(started.map(rejection)).toEqual(ran.map(rejection))
    const good = await service.start('echo', 1, { catalog })
    // Once the good one is counted all that came before it would be.
    const count = () => client.workflow.count(`TaskQueue = '${catalog}'`)
    await until('the good one is counted', async () => (await count()).count > 0)
    expect((await count()).count).toBe(1)
    await service.post(`${good.body.workflowId}/terminate`)
    return ran.map(rejection)
  }

  test('bad input: run and start reject one of each kind, and nothing is started', async () => {
    const rows: [body: unknown, expected: unknown][] = [
      ['{"workflowName":', NOT_JSON],
      ['nope', NOT_JSON],
      ['   ', NOT_JSON],
      ['', invalid('/workflowName', '')],
      ['[]', invalid('')],
      ['null', invalid('')],
      ['"echo"', invalid('')],
      ['\ufeff{}', expect.arrayContaining([400, 'ValidationError'])],
      [Buffer.from('{"workflowName":"echo","input":"\xe9"}', 'latin1'), NOT_JSON],
      [`{"workflowName":"echo","input":${'['.repeat(1000)}${']'.repeat(1000)}}`, NOT_JSON],
      [{ workflowName: null, input: 1 }, invalid('/workflowName')],
      [{ workflowName: 'echo' }, invalid('')],
      [{ workflowName: 'echo', input: 1, args: [1] }, invalid('')],
      [{ workflowName: 'echo', args: null }, invalid('/args')],
      [{ workflowName: 'echo', input: 1, 'a/b~c': 1, urgency: 2 }, invalid('/a~1b~0c', '/urgency')],
      ['{"workflowName":"echo","input":1,"__proto__":{"catalog":"x"}}', invalid('/__proto__')],
      ...['$catalog', 'nul\0', '\ud800', 'x'.repeat(1001)].map((name): [unknown, Rejection] => [
        { workflowName: name, input: 1 },
        invalid('/workflowName'),
      ]),
      ...['__proto__', 'toString', 'constructor'].map((name): [unknown, Rejection] => [
        { workflowName: name, input: 1 },
        [424, 'UnsupportedWorkflowError', undefined],
      ]),
      ...[null, '..', 'catalog', '$x', 'nul\0', '\udc00', 'ü'.repeat(501)].map((workflowId): [unknown, Rejection] => [
        { workflowName: 'echo', input: 1, workflowId },
        invalid('/workflowId'),
      ]),
      ...[null, '', '/_sys/x', 'nul\0', '\ud800', 'x'.repeat(992)].flatMap((name): [unknown, Rejection][] => [
        [{ workflowName: 'echo', input: 1, catalog: name }, invalid('/catalog')],
        [{ workflowName: 'echo', input: 1, taskQueue: name }, invalid('/taskQueue')],
      ]),
      ...['0', '1e999', '86400001', '"30"', '"25h"', 'null'].map((timeout): [unknown, Rejection] => [
        `{"workflowName":"echo","input":1,"timeout":${timeout}}`,
        invalid('/timeout'),
      ]),
    ]

    expect(await rejections(rows.map(([body]) => body))).toEqual(rows.map(([, expected]) => expected))
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

    const answers = await Promise.all(bodies.map((body) => service.post('run', body)))

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
      (await service.post(`${anId()}/${kind}/any`, body)).body.message

    expect(await messageOf('update', { sku: 'x' })).toBe('/sku is not a known field; wrap the value: {"payload": …}')
    expect(await messageOf('signal', { input: 1 })).toBe('/input is not a known field; wrap the value: {"payload": …}')
    expect(await messageOf('query', '17')).toMatch(/^The body must be .*; wrap the value: \{"payload": …\}$/)
    expect(await messageOf('update', [1, 2])).toMatch(
      /; wrap the value: \{"payload": …\}, or \{"args": \[…\]\} for several arguments$/,
    )
    expect(await messageOf('update', { payload: 1, sku: 'x' })).toBe('/sku is not a known field')
  })

  test('bad input: bodies of messages', async () => {
    const bodies = [
      { payload: 1, args: [1] },
      { args: null },
      { args: { 0: 1 } },
      { input: 1 },
      [1],
      'null',
      '{"payload":',
    ]

    const answers = await Promise.all(
      bodies.flatMap((body) =>
        ['signal', 'query', 'update'].map((kind) => api().service.post(`${anId()}/${kind}/x`, body)),
      ),
    )

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(answers.map(() => [400, 'ValidationError']))
  })

  test('bad input: ids and names in a path, which each runtime parses', async () => {
    const { service } = api()
    const names = ['$x', '%00', '%ED%A0%80', '%C3%28', '%zz', '%', 'x'.repeat(1001)]

    const answers = await Promise.all([
      ...names.flatMap((name) => [service.get(`${name}/status`), service.get(`w/runs/${name}/status`)]),
      ...['__temporal_x', 'runs', '%C3%BC'.repeat(501)].map((id) => service.get(`${id}/status`)),
      ...['1', `${randomUUID()}0`].map((id) => service.get(`w/runs/${id}/status`)),
      ...[...names, '__stack_trace', '__proto__'].flatMap((name) =>
        ['signal', 'query', 'update'].map((kind) => service.post(`${anId()}/${kind}/${name}`)),
      ),
      ...['%00', '%2F_sys%2Fx', 'x'.repeat(992)].map((id) => service.get(`catalog/${id}`)),
      // The workflow in which a catalog is stored.
      service.post(`${encodeURIComponent(`$catalog:${api().catalog}`)}/terminate`),
    ])

    for (const { status, body } of answers) expect([status, body.error]).toEqual([400, 'ValidationError'])
    const { status, body } = await service.get('catalog/status')
    expect([status, body.error]).toEqual([404, 'CatalogNotFoundError'])
  })

  test('bad input: bodies of stop and terminate, which end nothing', async () => {
    const { service } = api()
    const { workflowId } = (await service.start('neverEnds')).body
    const bodies = [{ reason: null }, { reason: 'nul\0' }, { reason: '\ud800' }, { why: 'x' }, []]

    const answers = await Promise.all(
      bodies.flatMap((body) => [
        service.call('PATCH', `/workflow/${workflowId}/stop`, body),
        service.post(`${workflowId}/terminate`, body),
      ]),
    )

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(answers.map(() => [400, 'ValidationError']))
    expect((await service.get(`${workflowId}/status`)).body.status).toBe('running')
    await service.post(`${workflowId}/terminate`)
  })
}
