/** Does what `SKILL.md` shows: its requests in order, and its client. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import { outputOf } from '../../dev/servers/component.ts'
import { until } from '../../dev/servers/until.ts'
import * as activities from '../../examples/activities.ts'
import { catalog } from '../../examples/catalog.ts'
import { makeApi } from '../support/api.ts'
import { readExamples } from '../support/api-docs.ts'
import { FROM_SOURCE } from '../support/entries.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { chapterOf, codeBlocks } from '../support/markdown.ts'
import { tryOutAll } from '../support/shown-examples.ts'

const TOKEN = 's3cret'

const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => ({
  workflowsPath: new URL('../../examples/workflows.ts', import.meta.url),
  activities,
  catalog,
}))

test('SKILL.md: each request gets the documented response, and the client prints what the page says', async ({
  worker,
  folder,
  cleanup,
}) => {
  const server = await FROM_SOURCE.Node({
    PATH: process.env.PATH ?? '',
    ENGINE_ADDRESS: inject('engine').address,
    SERVICE_CATALOG_ID: worker.taskQueue,
    SERVICE_PORT: '0',
    SERVICE_API_AUTH_TOKEN: TOKEN,
  })
  cleanup.defer(() => server.stop())
  const api = makeApi({ url: server.url, token: TOKEN })
  await until('the catalog is published', async () => (await api.call('GET', '/workflow/catalog')).status === 200)
  const examples = readExamples('SKILL.md')
  const page = chapterOf(
    await readFile(new URL('../../SKILL.md', import.meta.url), 'utf8'),
    'A client without dependencies',
  )

  await tryOutAll(api, worker.taskQueue, examples)
  for (const code of codeBlocks(page, 'js')) await writeFile(join(folder, fileNameOf(code)), code)
  const env = { ...process.env, PORTICO_URL: server.url, PORTICO_TOKEN: TOKEN }
  const printed = await outputOf({ command: process.execPath, args: ['example.mjs'], cwd: folder, env })

  expect(examples.length).toBeGreaterThan(10)
  expect(`${printed}\n`).toBe(codeBlocks(page, 'text').join(''))
})

function fileNameOf(code: string): string {
  const name = /^\/\/ (\S+\.mjs)\n/.exec(code)?.[1]
  if (name === undefined) throw new Error(`The code does not begin with the name of its file: ${code.slice(0, 40)}`)
  return name
}
