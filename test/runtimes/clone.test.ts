/** `npx portico` in a clone, as README.md says: after `npm ci`, without a build. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ensureNode20 } from '../../dev/servers/components.ts'
import { startProcess } from '../../dev/servers/process.ts'
import { bin } from '../../dev/servers/runtimes.ts'
import { test as base } from '../support/fixtures.ts'
import { makeClone } from '../support/package.ts'

const test = base.extend('clone', { scope: 'file' }, async ({ folder }) => {
  await makeClone(join(folder, 'clone'))
  // npx links the clone into its cache.
  return { path: join(folder, 'clone'), cache: join(folder, 'npm-cache') }
})

async function run(clone: { path: string; cache: string }, command: string, ...args: string[]) {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, npm_config_cache: clone.cache }
  const running = await startProcess({ command, args, cwd: clone.path, env })
  const { code } = await running.ended
  return { code, output: running.output() }
}

test('npx portico: in a clone it runs the sources, and dist/ once that exists', async ({ clone }) => {
  const ofSources = await run(clone, 'npx', 'portico', 'status')
  await mkdir(join(clone.path, 'dist'))
  await writeFile(join(clone.path, 'dist/cli.js'), "console.log('built:', process.argv.slice(2).join(' '))")
  const built = await run(clone, 'npx', 'portico', 'status')
  await rm(join(clone.path, 'dist'), { recursive: true })

  expect(ofSources).toEqual({ code: 2, output: expect.stringContaining("missing required argument 'id'") })
  expect(built).toEqual({ code: 0, output: expect.stringMatching(/^built: status$/m) })
})

test('portico archive: in a clone it says that it needs a build', async ({ clone }) => {
  const { code, output } = await run(clone, bin('node'), 'bin/portico.js', 'archive', 'orders')

  expect([code, output.trim()]).toEqual([
    1,
    'error: portico archive requires the npm package; install it, or in a clone run npm run build',
  ])
})

test('bin/portico.js: on an old Node.js, and before npm ci, it says what to do', async ({ clone, folder }) => {
  const fresh = { ...clone, path: join(folder, 'fresh') }
  await makeClone(fresh.path)
  await rm(join(fresh.path, 'node_modules'))

  const old = await run(clone, await ensureNode20(), 'bin/portico.js', 'status')
  const withoutPackages = await run(fresh, bin('node'), 'bin/portico.js', 'status')

  expect(old).toEqual({
    code: 1,
    output: expect.stringContaining('Portico needs Node.js 22.18 or newer, and this is Node.js 20.'),
  })
  expect(withoutPackages).toEqual({ code: 1, output: expect.stringContaining('Run npm ci first') })
})
