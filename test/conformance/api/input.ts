import { expect, test } from 'vitest'
import { type ApiFixture, startDirectly } from './api-fixture.ts'

/** GET input. */
export function input(api: () => ApiFixture): void {
  test('input: is available while the run is open, of the latest and of a pinned run', async () => {
    const { service } = api()
    const { body: started } = await service.start('neverEnds', { a: 1 })
    const { workflowId, runId } = started

    const latest = await service.get(`${workflowId}/input`)
    const pinned = await service.get(`${workflowId}/runs/${runId}/input`)
    await service.post(`${workflowId}/terminate`)

    expect([latest.status, latest.body]).toEqual([200, { workflowId, runId, input: { a: 1 }, args: [{ a: 1 }] }])
    expect(pinned.body).toEqual(latest.body)
  })

  test('input: tells no argument, one that is null, one that is an array, and several apart', async () => {
    const lists = [[], [null], [[1, 2]], [1, 2]]
    const runs = await Promise.all(lists.map((args) => startDirectly(api(), 'several', { args })))

    const answers = await Promise.all(runs.map(({ workflowId }) => api().service.get(`${workflowId}/input`)))

    expect(answers.map(({ body }) => body.args)).toEqual(lists)
    expect(answers.map(({ body }) => body.input)).toEqual([null, null, [1, 2], [1, 2]])
  })
}
