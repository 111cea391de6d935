/** The workflow in Go that asks a person, examples/questions/order.go. */
import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { PATIENT, testWithGoWorker } from './go-worker.ts'

const test = testWithGoWorker('./go-questions.go', async () => {
  return { 'order.go': await readFile(new URL('../../examples/questions/order.go', import.meta.url), 'utf8') }
})

test(
  'Go: a workflow asks for whom and until when, takes the answer, and does not ask any more once it is canceled',
  PATIENT,
  async ({ service, client }) => {
    const asking = async () => {
      const { body } = await service.post('start', { workflowName: 'order', args: [250] })
      const workflowId = String(body.workflowId)
      const [question] = await until('it asks', async () => {
        const { questions } = (await service.get(`${workflowId}/questions`)).body
        return questions.length > 0 && questions
      })
      return { workflowId, question }
    }
    const [answered, canceled] = await Promise.all([asking(), asking()])

    const path = `${answered.workflowId}/questions/${answered.question.key}/answer`
    const answer = await service.post(path, { content: { approved: true } })
    await service.call('PATCH', `/workflow/${canceled.workflowId}/stop`)
    const runs = [answered, canceled].map(({ workflowId }) => workflowId)
    const results = await Promise.all(runs.map((id) => service.get(`${id}/result?wait=60s`)))
    const ended = await Promise.all(runs.map((id) => client.workflow.getHandle(id).describe()))

    const { askedAt, due, ...question } = answered.question
    expect(question).toMatchObject({
      ...{ key: expect.stringMatching(/^[\da-f-]{36}$/), message: 'Approve the order of 250 EUR?', to: ['finance'] },
      schema: { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] },
    })
    expect(Date.parse(due) - Date.parse(askedAt)).toBe(3 * 86_400_000)
    expect(answer.status).toBe(200)
    expect(results.map(({ body }) => [body.status, body.output])).toEqual([
      ['completed', 'shipped'],
      ['canceled', null],
    ])
    expect(ended.map(({ memo }) => memo)).toEqual([{ $asks: {} }, { $asks: {} }])
  },
)
