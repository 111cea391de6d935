/** A front is a folder and its line: without them, the rest of the service compiles and passes its tests. */
import { execFile } from 'node:child_process'
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { test } from '../../test/support/fixtures.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FRONT = 'service/fronts/chat'
const run = promisify(execFile)

test('without the front for the AI SDK, the rest compiles and passes its unit tests', {
  timeout: 600_000,
}, async ({ folder }) => {
  const parts = ['src', 'test', 'dev', 'docs', 'lab', 'examples', 'package.json', 'tsconfig.json', 'vitest.config.ts']
  for (const part of parts) await cp(join(ROOT, part), join(folder, part), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await rm(join(folder, 'src', FRONT), { recursive: true })
  await rm(join(folder, 'test/unit', FRONT), { recursive: true })
  const list = join(folder, 'src/service/fronts.ts')
  const lines = (await readFile(list, 'utf8')).split('\n')
  await writeFile(list, lines.filter((line) => !/fronts\/chat\/|^ {2}\{ uiMessages \},$/.test(line)).join('\n'))
  await writeFile(join(folder, 'tsconfig.src.json'), '{ "extends": "./tsconfig.json", "include": ["src"] }')

  await run(process.execPath, [join(ROOT, 'node_modules/.bin/tsc'), '--noEmit', '-p', 'tsconfig.src.json'], {
    cwd: folder,
  })
  const { stdout } = await run('npx', ['vitest', 'run', '--project', 'unit', 'test/unit/service'], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1' },
  })

  expect(stdout).toMatch(/Tests +\d{3,} passed/)
})
