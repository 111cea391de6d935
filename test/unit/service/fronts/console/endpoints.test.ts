import { expect, test } from 'vitest'
import { packedFile } from '../../../../../src/service/fronts/packed-file.ts'
import type { ReadPageFile } from '../../../../../src/service/http/page-files.ts'
import { makeApi, rejection } from '../../http/api.ts'

const FILES = new Map([
  ['page.html', packedFile('page.html', '<meta content="{{token}}">')],
  ['page.js', packedFile('page.js', 'start()')],
])
const readConsoleFile: ReadPageFile = async (name) => FILES.get(name) ?? null
const auth = { tokens: ['s3cret'] }

test('console: does not exist, and needs a token like any other path, unless it is on (threat 62)', async () => {
  const answers = [await makeApi().call('GET', '/console'), await makeApi({ auth }).call('GET', '/console/runs')]

  expect(await Promise.all(answers.map(rejection))).toEqual([
    [404, 'NotFoundError'],
    [401, 'UnauthorizedError'],
  ])
})

test('console: its pages are one file, which needs no token and says whether the API needs one (threat 62)', async () => {
  const { call } = makeApi({ auth, readConsoleFile })
  const open = makeApi({ readConsoleFile })
  const names = ['runs', 'run', 'questions', 'start', 'page.js', 'page.html', 'nope', 'a/b']

  const answers = await Promise.all(names.map((name) => call('GET', `/console/${name}`)))

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 404, 404, 404])
  expect(await answers[1]?.text()).toBe('<meta content="required">')
  expect(await (await open.call('GET', '/console/run')).text()).toBe('<meta content="none">')
  expect(await rejection(await call('GET', '/namespaces/default/console/runs'))).toEqual([401, 'UnauthorizedError'])
})

test('console: its address leads to the runs, below any path', async () => {
  const { call } = makeApi({ readConsoleFile, mount: { basePath: '/portico' } })

  const { status, headers } = await call('GET', '/portico/console')

  expect([status, headers.get('Location')]).toEqual([302, '/portico/console/runs'])
})

test('console: has the headers of the reference page, and is sent once (threat 62)', async () => {
  const { call } = makeApi({ readConsoleFile, readDocsFile: readConsoleFile })
  const [docs, page, script] = await Promise.all(
    ['/docs', '/console/run', '/console/page.js'].map((path) => call('GET', path)),
  )
  const headersOf = (answer: Response | undefined) => [
    ...['Cache-Control', 'Content-Security-Policy', 'Referrer-Policy', 'X-Content-Type-Options'].map((name) =>
      answer?.headers.get(name),
    ),
  ]

  const again = await call('GET', '/console/start', undefined, { 'If-None-Match': page?.headers.get('ETag') ?? '' })

  expect(headersOf(docs)[1]).toMatch(/^default-src 'none'; script-src 'self'; /)
  expect([page, script, again].map(headersOf)).toEqual([docs, docs, docs].map(headersOf))
  expect([script?.headers.get('Content-Type'), again.status]).toEqual(['text/javascript; charset=utf-8', 304])
})
