import { expect, test } from 'vitest'
import { makeApi } from '../api.ts'

test('questions: without parameters, those of 200 runs, for anybody', async () => {
  const commands: object[] = []
  const api = makeApi({
    workflows: {
      async questions(command) {
        commands.push(command)
        return { questions: [], nextPageToken: null }
      },
    },
  })

  await api.call('GET', '/questions')
  await api.call('GET', '/questions?to=ann&to=finance&pageSize=7&workflowName=refund')

  expect(commands).toEqual([
    { filter: {}, to: [], pageSize: 200, pageToken: null },
    { filter: { workflowName: 'refund' }, to: ['ann', 'finance'], pageSize: 7, pageToken: null },
  ])
})
