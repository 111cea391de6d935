import type { OtherCatalog, Publication } from './publish-catalog.ts'

export interface PublicationLog {
  level: 'info' | 'warn'
  message: string
  fields: {
    hash: string
    otherHash?: string | null
    otherVersion?: OtherCatalog['version']
    /** Workflow names that can no longer be started. */
    lost?: string[]
  }
}

/** The log line for what changed since `last`, which is null when the worker starts; null when nothing changed. */
export function publicationLog(now: Publication, last: Publication | null): PublicationLog | null {
  const { hash, other } = now
  const fields = { hash, ...(other && { otherHash: other.hash, otherVersion: other.version }) }
  const info = (message: string): PublicationLog => ({ level: 'info', message, fields })
  const lostNames = (message: string, lost: string[]): PublicationLog =>
    lost.length === 0
      ? info(message)
      : { level: 'warn', message: `${message}: names are lost`, fields: { ...fields, lost } }

  switch (now.state) {
    case 'published':
      if (other !== null) return lostNames("Catalog published, replacing another worker's", other.additionalNames)
      if (last === null) return info('Catalog published')
      return { level: 'warn', message: 'Catalog was missing and has been published again', fields }
    case 'unchanged':
      return last === null ? info('Catalog is already published') : null
    case 'skipped':
      if (last?.state === 'skipped' && last.other?.hash === other?.hash) return null
      if (last === null || last.state === 'skipped')
        return info('Catalog not published: new workflows are routed to another version')
      return lostNames("Catalog was replaced by another worker's", other?.missingNames ?? [])
  }
}
