import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { type Env, requestId } from '../../../src/http/context.ts'
import { generalDocument } from '../../../src/http/openapi/general-document.ts'
import { announceDeprecation, respond } from '../../../src/http/response.ts'
import { serve } from '../../../src/http/serve.ts'
import { makeApi } from './api.ts'
import { result } from './run-api.ts'

const URL = 'https://github.com/portico/portico/blob/main/docs/api.md#deprecated-fields'

test('deprecation: headers say since when, until when, and where to read about it', async () => {
  const app = new Hono<Env>()
  const handler = serve({ log() {} }, [requestId('')], (c) => {
    announceDeprecation(c, { name: 'old', since: '2026-01-01', sunset: '2027-01-01' })
    return respond(c, null, 204, {})
  })
  app.get('/', handler)

  const { headers } = await app.request('/')

  expect(['Deprecation', 'Sunset', 'Link'].map((name) => headers.get(name))).toEqual([
    '@1767225600',
    'Fri, 01 Jan 2027 00:00:00 GMT',
    `<${URL}>; rel="deprecation"`,
  ])
})

test('deprecation: the log line of the request names the field', async () => {
  const { call, events } = makeApi({ workflows: { run: async () => result } })

  await call('POST', '/workflow/run', { workflowName: 'greet', input: 1, taskQueue: 'orders' })
  await call('POST', '/workflow/run', { workflowName: 'greet', input: 1, catalog: 'orders' })

  expect(events.map(({ fields }) => fields.deprecated)).toEqual(['taskQueue', undefined])
})

test('deprecation: the OpenAPI document marks the field', async () => {
  const { StartRequest } = JSON.parse(JSON.stringify((await generalDocument()).components.schemas))

  const marked = Object.entries<{ deprecated?: boolean }>(StartRequest.properties).filter(
    ([, field]) => field.deprecated,
  )
  expect(marked.map(([name]) => name)).toEqual(['taskQueue'])
})
