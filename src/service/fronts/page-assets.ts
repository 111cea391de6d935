/**
 * The files of the pages on workerd: static assets of the Worker, each of them a `PageFile` as JSON. Assets
 * with the names of the files would have other headers if the platform served them itself, and it redirects `page.html`
 * to `page`.
 */

import { deadlineSignal } from '../../shared/lib/abort.ts'
import type { PageFile, ReadPageFile } from '../http/page-files.ts'

/** The binding of static assets: https://developers.cloudflare.com/workers/static-assets/binding/ */
export interface Assets {
  fetch(url: string, init: RequestInit): Promise<Response>
}

const READ_TIMEOUT_MS = 5000

/** A folder for each page. */
export type PageFolder = 'docs-page' | 'console'

/** Path of the asset in the folder that the binding serves. */
export function assetPath(folder: PageFolder, name: string): string {
  return `${folder}/${name}.json`
}

export function isAssets(binding: unknown): binding is Assets {
  return typeof binding === 'object' && binding !== null && 'fetch' in binding && typeof binding.fetch === 'function'
}

/** Reads the files of this folder from `assets`, and nothing else that may be there. */
export function readPageFileFrom(assets: Assets, folder: PageFolder): ReadPageFile {
  return async (name) => {
    // A name with other characters could lead out of the folder.
    if (!/^[\w.-]+$/.test(name)) return null
    const deadline = deadlineSignal(Date.now() + READ_TIMEOUT_MS)
    try {
      // The host has no meaning.
      const response = await assets.fetch(`https://assets.local/${assetPath(folder, name)}`, {
        signal: deadline.signal,
      })
      if (isFile(response)) return (await response.json()) as PageFile
      await response.body?.cancel()
      return null
    } finally {
      deadline.release()
    }
  }
}

/** Assets with `not_found_handling` respond with their own page to a path that they do not have. */
function isFile({ ok, headers }: Response): boolean {
  return ok && headers.get('Content-Type')?.startsWith('text/html') !== true
}
