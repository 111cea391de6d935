import { describe, expect, test } from 'vitest'
import { ENDPOINTS } from '../../../../src/service/endpoints.ts'
import { limited, matcherOf } from '../../../../src/service/http/endpoint.ts'
import { workflowId } from '../../../../src/service/http/endpoints/fields/names.ts'
import { zodToJsonSchema } from '../../../../src/service/openapi/to-json-schema.ts'
import { RESERVED_IDS } from '../../../../src/shared/wire/names.ts'

describe('the list of endpoints', () => {
  test('a static path segment where others have an id is a reserved id, and nothing else is', () => {
    const segments = ENDPOINTS.flatMap(({ path }) => /^\/workflow\/([^:/]+)\//.exec(path)?.[1] ?? [])
    const { pattern } = zodToJsonSchema(workflowId)

    expect(new Set(['.', '..', ...segments])).toEqual(RESERVED_IDS)
    expect([...RESERVED_IDS].filter((id) => new RegExp(String(pattern), 'u').test(id))).toEqual([])
  })

  test('what takes an Idempotency-Key describes that header, and what only reads, or has ids of its own, ignores it', () => {
    const taking = ENDPOINTS.filter(({ key }) => key === 'taken')
    const describing = ENDPOINTS.filter(({ headers }) => headers?.includes('Idempotency-Key'))
    const ignoring = ENDPOINTS.filter(({ key }) => key === 'ignored')

    expect(taking.map(({ id }) => id)).toEqual(describing.map(({ id }) => id))
    expect(ignoring.filter(({ method }) => method !== 'get').map(({ id }) => id)).toEqual([
      'queryWorkflow',
      'queryRun',
      'answerWorkflowQuestion',
      'answerRunQuestion',
      'putSchedule',
      'receiveWebhook',
    ])
    expect(ENDPOINTS.filter(({ method, key }) => method === 'get' && key !== 'ignored')).toEqual([])
  })

  test('what needs no token says nothing about this deployment, except links, whose URL has the proof', () => {
    const paths = ENDPOINTS.filter(({ access }) => access === null).map(({ path }) => path)
    expect(paths).toEqual([
      ...[
        '/health',
        '/ready',
        '/links/:token',
        '/links/:token',
        '/hooks/:hook',
        '/hooks/:hook',
        '/docs',
        '/docs/:file',
        '/console',
        '/console/:file',
      ],
    ])
  })

  test('a matcher knows whole paths, and paths up to their first parameter', () => {
    const matches = matcherOf(ENDPOINTS.filter(({ tag }) => tag === 'Service' || tag === 'Inspect'))

    expect(['/health', '/docs', '/docs/x/y', '/workflow/w/nope'].filter((path) => !matches(path))).toEqual([])
    expect(['/', '/health/', '/workflow', '/docsx'].filter(matches)).toEqual([])
  })

  test('the apps of all namespaces share the schemas of the limit of the deployment', () => {
    const schemas = ENDPOINTS.flatMap(({ query, body }) => [query ?? [], body?.schema ?? []].flat())
    const ofMinute = () => schemas.map((schema) => limited<object>(schema, 60_000))

    const isShared = ofMinute().map((schema, at) => schema === ofMinute()[at])

    expect(new Set(isShared)).toEqual(new Set([true]))
    expect(schemas.map((schema) => limited<object>(schema, 1000))).not.toEqual(ofMinute())
  })
})
