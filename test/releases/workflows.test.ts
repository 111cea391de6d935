/** The workflows of a public forge: linted here, because they run only there. */
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { ensureZizmor } from '../../dev/servers/components.ts'
import { startProcess } from '../../dev/servers/process.ts'
import type { ProcessOptions } from '../../src/cli/dev/servers/process.ts'
import { VERSION } from '../../src/version.ts'
import { goEnvironment } from '../clients/tools.ts'
import { test } from '../support/fixtures.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FOLDER = join(ROOT, '.github/workflows')
const ACTIONLINT = fileURLToPath(new URL('./actionlint', import.meta.url))

const jobSchema = z.looseObject({
  needs: z.union([z.string().transform((name) => [name]), z.array(z.string())]).default([]),
  permissions: z.record(z.string(), z.enum(['read', 'write'])),
  uses: z.string().optional(),
  steps: z
    .array(z.looseObject({ id: z.string().optional(), uses: z.string().optional(), run: z.string().optional() }))
    .default([]),
})

const workflowSchema = z.looseObject({ jobs: z.record(z.string(), jobSchema) })

test('.github/workflows: actionlint finds nothing', async () => {
  // Without the linters that it would find on some machines.
  const args = ['tool', 'actionlint', '-oneline', '-shellcheck=', '-pyflakes=', ...(await files())]
  const { code, lines } = await linted({ command: 'go', args, cwd: ACTIONLINT, env: await goEnvironment() })

  expect(lines.filter((line) => !line.startsWith('go: downloading '))).toEqual([])
  expect(code).toBe(0)
})

test('.github/workflows: zizmor finds nothing that an attacker could use', async () => {
  const args = ['--offline', '--quiet', '--format=github', ...(await files())]
  const { code, lines } = await linted({ command: await ensureZizmor(), args, cwd: ROOT })

  expect(lines).toEqual([])
  expect(code).toBe(0)
})

test('.github/workflows/ci.yml: runs .ci/run', async () => {
  const { jobs } = await workflow('ci.yml')

  expect(jobs.test?.steps.map(({ run }) => run)).toContain('.ci/run')
})

test('.github/workflows/release.yml: what may write waits for the tests, and the package for all that can be repeated', async () => {
  const { jobs } = await workflow('release.yml')
  const before = (name: string): string[] => (jobs[name]?.needs ?? []).flatMap((other) => [other, ...before(other)])
  const writers = Object.keys(jobs).filter((name) => Object.values(jobs[name]?.permissions ?? {}).includes('write'))

  expect(jobs.test?.uses).toBe('./.github/workflows/ci.yml')
  expect(writers).toEqual(['images', 'executables', 'package', 'release'])
  expect(writers.filter((name) => !before(name).includes('test') || !before(name).includes('version'))).toEqual([])
  expect(before('package')).toEqual(expect.arrayContaining(['images', 'executables']))
})

test('.github/workflows/release.yml: the images and the package have a provenance', async () => {
  const { images, executables, package: npm } = (await workflow('release.yml')).jobs
  const push = images?.steps.find(({ uses }) => uses?.startsWith('docker/build-push-action@'))
  const attested = [images, executables].map((job) =>
    job?.steps.some(({ uses }) => uses?.startsWith('actions/attest@')),
  )

  expect(push?.with).toMatchObject({ platforms: 'linux/amd64,linux/arm64', provenance: 'mode=max', sbom: true })
  expect(attested).toEqual([true, true])
  expect(npm?.steps.map(({ run }) => run)).toContainEqual(expect.stringContaining('npm publish --provenance'))
})

test.for([
  [`v${VERSION}`, { code: 0, stdout: '', result: `version=${VERSION}\n` }],
  ['v99.0.0', { code: 1, stdout: expect.stringContaining('The tag is v99.0.0, and package.json has'), result: '' }],
] as const)(
  '.github/workflows/release.yml: a tag must be the version of the package, %s',
  async ([tag, expected], { folder }) => {
    const { jobs } = await workflow('release.yml')
    const script = jobs.version?.steps.find(({ id }) => id === 'version')?.run ?? ''
    const results = join(await mkdtemp(join(folder, 'tag-')), 'output')
    await writeFile(results, '')

    const env = { ...process.env, GITHUB_REF_NAME: tag, GITHUB_OUTPUT: results }
    const step = await startProcess({ command: 'bash', args: ['-e', '-c', script], cwd: ROOT, env })
    const { code } = await step.ended

    expect({ code, stdout: step.output().trim(), result: await readFile(results, 'utf8') }).toEqual(expected)
  },
)

async function files(): Promise<string[]> {
  const names = await readdir(FOLDER)
  expect(names.toSorted()).toEqual(['ci.yml', 'release.yml'])
  return names.map((name) => join(FOLDER, name))
}

async function linted(linter: ProcessOptions): Promise<{ code: number | null; lines: string[] }> {
  const { ended, output } = await startProcess(linter)
  const { code } = await ended
  return { code, lines: output().split('\n').filter(Boolean) }
}

async function workflow(name: string) {
  return workflowSchema.parse(parse(await readFile(join(FOLDER, name), 'utf8')))
}
