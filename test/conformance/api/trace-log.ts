import { expect, test } from 'vitest'
import { rule } from '../../support/rules.ts'
import type { ApiFixture } from './api-fixture.ts'

/** GET trace-log. */
export function traceLog(api: () => ApiFixture): void {
  rule('trace-log.is-the-whole-trace-of-a-completed-run', async () => {
    const { service } = api()
    const { body: ran } = await service.run('everyKind', { a: 1 })

    const { status, body } = await service.get(`${ran.workflowId}/trace-log`)
    const pinned = await service.get(`${ran.workflowId}/runs/${ran.runId}/trace-log`)

    const facts = [status, body.source, body.runId, body.complete, body.warnings]
    expect(facts).toEqual([200, 'history', ran.runId, true, []])
    expect(body.data).toMatchObject({
      kind: 'workflow',
      name: 'everyKind',
      input: { a: 1 },
      output: { a: 1 },
      error: null,
      attributes: { status: 'completed' },
    })
    expect(body.data.children.map(({ kind, name }: { kind: string; name: string }) => [kind, name])).toEqual([
      ['step', 'echoBack'],
      ['timer', expect.any(String)],
      ['child_workflow', 'echo'],
    ])
    expect(body.data.children[1].attributes).toEqual({ durationMs: 10, summary: 'a moment' })
    expect(body.data.children[2]).toMatchObject({ attributes: { runId: expect.any(String) } })
    expect(body.data.children[0]).toMatchObject({ output: { a: 1 }, attributes: { attempts: 1 } })
    expect(pinned.body).toEqual(body)
  })

  test('trace-log: an open run has an incomplete trace', async () => {
    const { service } = api()
    const { body: started } = await service.start('neverEnds')

    const { body } = await service.get(`${started.workflowId}/trace-log`)
    const { body: run } = await service.get(`${started.workflowId}/status`)

    expect([body.complete, body.data.endedAt]).toEqual([false, null])
    expect(body.data.startedAt).toBe(Date.parse(run.startedAt))
    await service.post(`${started.workflowId}/terminate`)
  })

  test('trace-log: a failed run has its failure and the number of attempts', async () => {
    const { service } = api()
    const { body: ran } = await service.run('failAfterRetries')

    const { body } = await service.get(`${ran.workflowId}/trace-log`)

    expect(body.data.error).toMatchObject({ message: expect.any(String) })
    expect(body.data.children).toMatchObject([
      { kind: 'step', attributes: { attempts: 5 }, error: { name: 'RangeError' } },
    ])
    const [{ startedAt, endedAt, attributes }] = body.data.children
    expect(attributes.lastStartedAt).toBeGreaterThan(startedAt)
    expect(attributes.lastStartedAt).toBeLessThanOrEqual(endedAt)
  })
}
