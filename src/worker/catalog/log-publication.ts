import type { Logger } from '@temporalio/worker'
import type { Publication } from './publish-catalog.ts'

interface Reporter {
  logger: Pick<Logger, 'info' | 'warn'>
  facts: { catalog: string; namespace: string }
}

/** Logs what has changed since the worker last looked: nothing as long as nothing does. `last` is null when it starts. */
export function report(now: Publication, last: Publication | null, { logger, facts }: Reporter): void {
  const { state, hash, other } = now
  const told = { ...facts, hash, ...(other && { otherHash: other.hash, otherVersion: other.version }) }
  if (state === 'published') {
    if (other === null && last === null) logger.info('Catalog published', told)
    else if (other === null) logger.warn('The catalog was missing: published again', told)
    else if (other.adds.length === 0) logger.info("Catalog published in place of another worker's", told)
    else logger.warn("Catalog published in place of another worker's: names are lost", { ...told, lost: other.adds })
  } else if (state === 'unchanged') {
    if (last === null) logger.info('Catalog is published already', told)
  } else if (last?.state !== 'left' || last.other?.hash !== other?.hash) {
    if (last === null || last.state === 'left')
      logger.info("Catalog not published: it is not this version's turn", told)
    else if (other === null || other.lacks.length === 0) logger.info("Another worker's catalog is published now", told)
    else logger.warn("Another worker's catalog is published now: names are lost", { ...told, lost: other.lacks })
  }
}
