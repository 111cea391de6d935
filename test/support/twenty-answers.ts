import { expect } from 'vitest'
import { taskIdOf } from '../../src/service/fronts/mcp/tasks/tasks.ts'
import type { RunRef } from '../../src/shared/wire/run-ref.ts'
import type { Api } from './api.ts'
import { callOfTask } from './call-of-task.ts'

/**
 * Twenty people answer the question of `asksPerson` at once: two with the link, nine by the API and nine as agents.
 * Expects that one answer is recorded, and an error for each other person. Returns the content that is recorded.
 */
export async function twentyAnswers(
  { workflowId, runId }: RunRef,
  linkPath: string,
  apisOf: (person: number) => { api: Api; holder: Api },
): Promise<object> {
  const contentOf = (person: number) => ({ approved: person % 3 === 0, ...(person >= 2 && { person }) })
  const answer = async (person: number) => {
    const { api, holder } = apisOf(person)
    const content = contentOf(person)
    if (person < 2) {
      const { status, body } = await holder.call('POST', linkPath, { choice: ['Yes', 'No'][person] })
      return status === 200 ? 'recorded' : body.error
    }
    if (person % 4 < 2) {
      const { status, body } = await api.post(`${workflowId}/questions/question-1/answer`, { content })
      return status === 200 ? 'recorded' : body.error
    }
    const inputResponses = { 'question-1': { action: 'accept', content } }
    const { body } = await callOfTask(api, 'tasks/update', { taskId: taskIdOf({ workflowId, runId }), inputResponses })
    return body.error?.data.name ?? 'recorded'
  }

  const answers = await Promise.all(Array.from({ length: 20 }, (_, person) => answer(person)))

  const winner = answers.indexOf('recorded')
  const late = (person: number) => (person < 2 ? 'LinkUsedError' : 'QuestionAnsweredError')
  expect(answers).toEqual(answers.map((_, person) => (person === winner ? 'recorded' : late(person))))
  return contentOf(winner)
}
