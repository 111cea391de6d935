import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { BundledPackage } from './third-party-files.ts'

const RULE = '-'.repeat(80)

/** The license texts of all packages. One text follows the names of all packages that have it. */
export function toNotices(packages: readonly BundledPackage[]): string {
  const sections = [...Map.groupBy(packages, licenseText)].map(([text, having]) =>
    [RULE, ...having.map(({ name, version, license }) => `${name} ${version} (${license})`), '', text].join('\n'),
  )
  return `Portico contains code of these packages. sbom.cdx.json says which file contains which.\n\n${sections.join('\n\n')}\n`
}

function licenseText({ name, license, author, folder, origins, inside }: BundledPackage): string {
  const own = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file))
  const files = [
    ...own.sort().map((file) => `${folder}/${file}`),
    ...origins.map((file) => `${file}.LICENSE.txt`).filter((file) => existsSync(file)),
  ]
  const texts = files.map((file) => readFileSync(file, 'utf8').replaceAll('\r\n', '\n').trim())
  if (own.length === 0)
    texts.unshift(`The package has no license file. It names its license, ${license}, and its author, ${author}.`)
  if (inside.length > 0) texts.push(`${name} contains code of ${inside.join(', ')}.`)
  return texts.join('\n\n')
}
