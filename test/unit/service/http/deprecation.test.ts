import { expect, test } from 'vitest'
import { makeApi } from './api.ts'
import { result } from './run-api.ts'

test('deprecation: the log line of the request names the field', async () => {
  const { call, events } = makeApi({ workflows: { run: async () => result } })

  await call('POST', '/workflow/run', { workflowName: 'greet', input: 1, taskQueue: 'orders' })
  await call('POST', '/workflow/run', { workflowName: 'greet', input: 1, catalog: 'orders' })

  expect(events.map(({ fields }) => fields.deprecated)).toEqual(['taskQueue', undefined])
})
