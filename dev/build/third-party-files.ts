/** Writes `sbom.cdx.json` and `THIRD-PARTY-NOTICES` for the packages that the bundles contain. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { OutputAsset, OutputChunk, Plugin, PluginContext, RolldownOptions } from 'rolldown'
import { isAllowed, licenseOf, SHIPPED_LICENSES } from './licenses.ts'
import { toNotices } from './notices.ts'
import { toSbom } from './sbom.ts'

export interface BundledPackage {
  name: string
  version: string
  /** An SPDX expression. */
  license: string
  author: string | null
  folder: string
  /** Its files of which bundles have code or text. */
  origins: string[]
  /** The files of `dist/` that contain some of it. */
  bundles: string[]
  /** The packages that its own bundle contains, as far as its source maps name them. */
  inside: string[]
}

declare module 'rolldown' {
  interface CustomPluginOptions {
    /** A plugin whose module contains other files, compressed or as JSON, names them here. */
    origins?: string[]
  }
}

/** One SBOM is for the bundles of all configurations, so the last one that is built emits it. */
export function withThirdPartyFiles(configs: RolldownOptions[]): RolldownOptions[] {
  const bundlesOf = new Map<string, Set<string>>()
  let remaining = configs.length
  const plugin: Plugin = {
    name: 'third-party-files',
    generateBundle(_options, bundle) {
      for (const output of Object.values(bundle)) {
        for (const origin of originsOf(output, this)) {
          bundlesOf.set(origin, (bundlesOf.get(origin) ?? new Set()).add(output.fileName))
        }
      }
      remaining -= 1
      if (remaining > 0) return
      const packages = toPackages(bundlesOf)
      this.emitFile({ type: 'asset', fileName: 'sbom.cdx.json', source: toSbom(packages) })
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-NOTICES', source: toNotices(packages) })
    },
  }
  return configs.map((config) => ({ ...config, plugins: [config.plugins, plugin] }))
}

/** The files of packages that a file of `dist/` was made of. */
function originsOf(output: OutputChunk | OutputAsset, context: PluginContext): string[] {
  const ids =
    output.type === 'asset'
      ? output.originalFileNames
      : Object.entries(output.modules)
          .filter(([, { renderedLength }]) => renderedLength > 0)
          .flatMap(([id]) => [id, ...(context.getModuleInfo(id)?.meta.origins ?? [])])
  return ids.map(toFile).filter((file) => file.includes('/node_modules/'))
}

/** Bundles also have code of rolldown, which loads CommonJS modules. */
function toFile(id: string): string {
  if (id.startsWith('\0rolldown/')) return fileURLToPath(import.meta.resolve('rolldown/package.json'))
  if (id.startsWith('\0')) throw new Error(`It is not known which package has the module ${JSON.stringify(id)}`)
  return id
}

function toPackages(bundlesOf: Map<string, Set<string>>): BundledPackage[] {
  const origins = Map.groupBy([...bundlesOf.keys()].sort(), packageFolder)
  return [...origins]
    .map(([folder, files]) => ({
      ...readManifest(folder),
      folder,
      origins: files,
      bundles: [...new Set(files.flatMap((file) => [...(bundlesOf.get(file) ?? [])]))].sort(),
      inside: [...new Set(files.flatMap(packagesInside))].sort(),
    }))
    .sort((one, other) => (idOf(one) < idOf(other) ? -1 : 1))
}

function idOf({ name, version }: BundledPackage): string {
  return `${name}@${version}`
}

const PACKAGE = /^(?<folder>.*node_modules\/(?<name>(?:@[^/]+\/)?[^/]+))\//

function packageFolder(file: string): string {
  return PACKAGE.exec(file)?.groups?.folder ?? ''
}

function readManifest(folder: string): Pick<BundledPackage, 'name' | 'version' | 'license' | 'author'> {
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
  const { name, version, author } = manifest
  const license = licenseOf(manifest)
  if (license === null || !isAllowed(license, SHIPPED_LICENSES)) {
    throw new Error(`${name}@${version} is in a bundle, but ${license ?? 'no license'} is not in SHIPPED_LICENSES`)
  }
  return { name, version, license, author: author?.name ?? author ?? null }
}

/** Of a file that is a bundle itself, such as Swagger UI's. */
function packagesInside(file: string): string[] {
  if (!existsSync(`${file}.map`)) return []
  const { sources }: { sources: string[] } = JSON.parse(readFileSync(`${file}.map`, 'utf8'))
  return sources.flatMap((source) => PACKAGE.exec(source)?.groups?.name ?? [])
}
