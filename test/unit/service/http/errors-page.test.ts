/** `docs/errors.md`, to which the `type` of every error leads. */
import { expect, test } from 'vitest'
import { PROBLEMS, toProblemBody } from '../../../../src/service/http/errors.ts'
import { docsUrl } from '../../../../src/service/http/problem.ts'
import { type ErrorName, ServiceError } from '../../../../src/service/model/errors.ts'
import { anchorsIn } from '../../../support/markdown.ts'
import { textOf } from '../../../support/repository.ts'
import { makeApi } from './api.ts'

const page = textOf('docs/errors.md')
const names = Object.keys(PROBLEMS) as ErrorName[]

test('docs/errors.md: has a section for each error name, in the order of the source', () => {
  const headings = [...page.matchAll(/^## (.+Error)$/gm)].map(([, heading]) => heading)

  expect(headings).toEqual(names)
})

test('errors: type is the URL of the section of the error, below the homepage of the package', async () => {
  const { homepage } = JSON.parse(textOf('package.json'))
  const pageUrl = `${homepage.replace('#readme', '')}/blob/main/docs/errors.md`

  const { type } = await (await makeApi().call('GET', '/nope')).json()
  const types = names.map((name) => toProblemBody(new ServiceError(name, 'x'), 'r').type)

  expect(type).toBe(`${pageUrl}#notfounderror`)
  expect(new Set(types).size).toBe(names.length)
  const anchors = anchorsIn(page)
  expect(types.filter((one) => !one.startsWith(`${pageUrl}#`) || !anchors.has(new URL(one).hash.slice(1)))).toEqual([])
})

test('Link of a deprecated field: is the URL of a section of docs/api.md', async () => {
  const { call } = makeApi({ workflows: { start: async () => ({ workflowId: 'w', runId: 'r' }) } })

  const { headers } = await call('POST', '/workflow/start', { workflowName: 'greet', input: 1, taskQueue: 'b' })
  const [, url = ''] = /^<(.+)>; rel="deprecation"$/.exec(headers.get('Link') ?? '') ?? []

  expect(url.split('#')[0]).toBe(docsUrl('api.md'))
  expect(anchorsIn(textOf('docs/api.md'))).toContain(new URL(url).hash.slice(1))
})
