/** `sbom.cdx.json` and `THIRD-PARTY-NOTICES`, compared with source maps of the bundles and with files of packages. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { bin } from '../../dev/servers/runtimes.ts'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { test } from '../support/fixtures.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SWAGGER_UI = join(ROOT, 'node_modules/swagger-ui-dist')
const PACKAGE = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//

interface Component {
  group?: string
  name: string
  version: string
  licenses: { license: { id: string } }[]
  evidence: { occurrences: { location: string }[] }
  components?: Component[]
}

let dist: string
/** Another build of the same sources, with source maps. */
let mapped: string
let sbom: string
let components: Component[]
let notices: string

test.beforeAll(async ({ folder }) => {
  dist = await ensureBundles()
  mapped = folder
  await runCommand({ command: bin('rolldown'), args: ['-c', '-d', mapped, '--sourcemap'], cwd: ROOT })
  sbom = readFileSync(join(dist, 'sbom.cdx.json'), 'utf8')
  components = JSON.parse(sbom).components
  notices = readFileSync(join(dist, 'THIRD-PARTY-NOTICES'), 'utf8')
})

test('sbom.cdx.json: has exactly the packages of each bundle (threat 102)', () => {
  const listed = components
    .filter(({ name }) => name !== 'rolldown')
    .flatMap((one) => one.evidence.occurrences.map(({ location }) => `${location}: ${nameOf(one)}`))

  expect(listed.toSorted()).toEqual([...new Set([...packagesInMaps(), ...bakedPackages()])].toSorted())
  expect(listed).toEqual(
    expect.arrayContaining([
      'node.js: hono',
      'cli-run-cli.js: commander',
      'docs-page.js: swagger-ui-dist',
      'console.js: hono',
    ]),
  )
})

test('sbom.cdx.json: has rolldown for its functions, which have no source map', () => {
  const rolldown = components.find(({ name }) => name === 'rolldown')

  expect(rolldown?.evidence.occurrences).toContainEqual({ location: 'server-rolldown-runtime.js' })
})

test('sbom.cdx.json: has the versions and licenses of the installed packages (threat 102)', () => {
  const { packages }: { packages: Record<string, { version: string; license: string }> } = JSON.parse(
    readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
  )
  const installed = new Set(
    Object.entries(packages).map(
      ([path, { version, license }]) => `${PACKAGE.exec(`${path}/`)?.[1]} ${version} ${license}`,
    ),
  )
  const listed = components.map((one) => `${nameOf(one)} ${one.version} ${one.licenses[0]?.license.id}`)

  expect(listed.length).toBeGreaterThan(40)
  expect(listed.filter((one) => !installed.has(one))).toEqual([])
})

test('sbom.cdx.json: names the packages inside the bundle of Swagger UI', () => {
  const inside = components.find(({ name }) => name === 'swagger-ui-dist')?.components?.map(nameOf)

  expect(inside).toEqual(expect.arrayContaining(['react', 'dompurify', '@swagger-api/apidom-core']))
})

test('sbom.cdx.json: is valid by the schema of CycloneDX 1.6', async () => {
  expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(sbom)).toBe(null)
})

test('THIRD-PARTY-NOTICES: has each package of the SBOM, and the text of its license', () => {
  const named = [...notices.matchAll(/^(\S+) (\S+) \((.+)\)$/gm)].map(([line]) => line)
  const listed = components.map((one) => `${nameOf(one)} ${one.version} (${one.licenses[0]?.license.id})`)
  const sections = notices.split(`${'-'.repeat(80)}\n`).slice(1)
  const withoutText = sections.filter(
    (text) => !/permission is hereby granted|apache license|redistribution/i.test(text),
  )

  expect(named.toSorted()).toEqual(listed.toSorted())
  expect(withoutText.map((text) => text.split('\n')[0])).toEqual(['@bomb.sh/tab 0.0.22 (MIT)'])
  expect(notices).toContain(readFileSync(join(SWAGGER_UI, 'NOTICE'), 'utf8').trim())
  expect(notices).toContain(readFileSync(join(SWAGGER_UI, 'swagger-ui-bundle.js.LICENSE.txt'), 'utf8').trim())
})

test('sbom.cdx.json, THIRD-PARTY-NOTICES: are the same for another build, in another folder', () => {
  expect(readFileSync(join(mapped, 'sbom.cdx.json'), 'utf8')).toBe(sbom)
  expect(readFileSync(join(mapped, 'THIRD-PARTY-NOTICES'), 'utf8')).toBe(notices)
})

function packagesInMaps(): string[] {
  const maps = readdirSync(mapped).filter((name) => name.endsWith('.js.map'))
  return maps.flatMap((name) => {
    const { sources }: { sources: string[] } = JSON.parse(readFileSync(join(mapped, name), 'utf8'))
    const packages = sources.flatMap((source) => PACKAGE.exec(source)?.[1] ?? [])
    return packages.map((one) => `${name.slice(0, -'.map'.length)}: ${one}`)
  })
}

/** What bundles contain as text: Swagger UI, the script of the console, the table of Temporal's HTTP messages. */
function bakedPackages(): string[] {
  const assets = readdirSync(join(dist, 'workerd-assets/docs-page'))
    .filter((name) => existsSync(join(SWAGGER_UI, name.replace(/\.json$/, ''))))
    .map((name) => `workerd-assets/docs-page/${name}`)
  const withTable = readdirSync(dist)
    .filter((name) => name.endsWith('.js'))
    .filter((name) => readFileSync(join(dist, name), 'utf8').includes('StartWorkflowExecutionRequest'))
  return [
    ...['docs-page.js', ...assets].map((name) => `${name}: swagger-ui-dist`),
    ...['console.js', 'workerd-assets/console/page.js.json'].map((name) => `${name}: hono`),
    ...withTable.map((name) => `${name}: @temporalio/proto`),
  ]
}

function nameOf({ group, name }: Component): string {
  return group === undefined ? name : `${group}/${name}`
}
