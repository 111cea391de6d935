import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { CONSOLE_FILES, readConsoleFile } from '../../../../../src/service/fronts/console/files.ts'
import { pageTexts } from '../../../../support/page-texts.ts'
import { linesOf, sourcesIn, textOf } from '../../../../support/repository.ts'

const texts = await pageTexts(CONSOLE_FILES, readConsoleFile)

test('console: every file that it loads is one of its own, and no other is read (threat 62)', async () => {
  const loaded = [...(texts.get('page.html') ?? '').matchAll(/ (?:src|href)="(?!data:)([^"]+)"/g)].map(
    ([, path]) => path,
  )
  const others = await Promise.all(['files.ts', '../files.ts', '', 'constructor'].map(readConsoleFile))

  expect(loaded.toSorted()).toEqual(['../openapi.json', 'page.css', 'page.js'])
  expect(others).toEqual([null, null, null, null])
})

test('console: it has no address of another host, and nothing that its policy would block', () => {
  const script = texts.get('page.js') ?? ''
  const hosts = [...[...texts.values()].join('\n').matchAll(/https?:\/\/[\w.]+/g)].map(([host]) => host)

  // Names of namespaces, which nothing requests.
  expect(hosts.filter((host) => !host.startsWith('http://www.w3.org'))).toEqual([])
  // `randomUUID` does not exist on a page without TLS.
  const absent = [/\beval\(/, /new Function\b/, /localStorage/, /document\.cookie/, /randomUUID/]
  expect(absent.filter((one) => one.test(script))).toEqual([])
})

test('console: text of workflows never becomes markup', () => {
  const sources = sourcesIn('src/service/fronts/console')

  expect(sources.length).toBeGreaterThan(30)
  expect(sources.filter((file) => /innerHTML/i.test(textOf(file)))).toEqual([])
})

test('console: it stays small', () => {
  const bytes = (name: string) => gzipSync(texts.get(name) ?? '').length
  const lines = sourcesIn('src/service/fronts/console').reduce((sum, file) => sum + linesOf(file), 0)

  expect([bytes('page.css') < 8000, bytes('page.js') < 40_000, lines <= 4500]).toEqual([true, true, true])
})
