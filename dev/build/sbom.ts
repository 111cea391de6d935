import { readFileSync } from 'node:fs'
import type { BundledPackage } from './third-party-files.ts'

/** CycloneDX as JSON. Equal bundles have the same document: it has no time and no serial number. */
export function toSbom(packages: readonly BundledPackage[]): string {
  const { name, version, license } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: { type: 'application', ...identityOf(name, version), licenses: toLicenses(license) },
    },
    components: packages.map((one) => ({
      type: 'library',
      ...identityOf(one.name, one.version),
      licenses: toLicenses(one.license),
      evidence: { occurrences: one.bundles.map((location) => ({ location })) },
      ...(one.inside.length > 0 && { components: one.inside.map((inside) => toInnerComponent(inside, one)) }),
    })),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** Source maps name neither the version nor the license. */
function toInnerComponent(name: string, outer: BundledPackage) {
  const identity = identityOf(name)
  return { type: 'library', ...identity, 'bom-ref': `${identityOf(outer.name, outer.version).purl}#${identity.purl}` }
}

function identityOf(fullName: string, version?: string) {
  const [name = '', group] = fullName.split('/').reverse()
  const path = group === undefined ? name : `${encodeURIComponent(group)}/${name}`
  const purl = `pkg:npm/${path}${version === undefined ? '' : `@${version}`}`
  return {
    'bom-ref': purl,
    ...(group !== undefined && { group }),
    name,
    ...(version !== undefined && { version }),
    purl,
  }
}

function toLicenses(expression: string) {
  return /[ (]/.test(expression) ? [{ expression }] : [{ license: { id: expression } }]
}
