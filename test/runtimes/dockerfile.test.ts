/** The build stage of the Dockerfile, without an image: `npm run test:image` needs programs that few machines have. */
import { cpSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { bin } from '../../dev/servers/runtimes.ts'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { test } from '../support/fixtures.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
const [, buildStage = ''] = dockerfile.split(/^FROM /m)
const copied = [...buildStage.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '))

test('Dockerfile: .dockerignore includes what the build copies', () => {
  const included = readFileSync(join(ROOT, '.dockerignore'), 'utf8').match(/(?<=^!).+$/gm) ?? []

  expect(copied).toContain('src')
  expect(copied.filter((path) => !included.some((one) => path === one || path.startsWith(`${one}/`)))).toEqual([])
})

test('Dockerfile: what the build copies suffices for the same bundles', async ({ folder }) => {
  for (const path of copied) cpSync(join(ROOT, path), join(folder, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))

  await runCommand({ command: bin('rolldown'), args: ['-c'], cwd: folder })

  const dist = await ensureBundles()
  for (const name of ['node.js', 'bun.js', 'sbom.cdx.json', 'THIRD-PARTY-NOTICES'])
    expect(readFileSync(join(folder, 'dist', name), 'utf8'), name).toBe(readFileSync(join(dist, name), 'utf8'))
})
