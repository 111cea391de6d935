import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Whether this is a clone of the repository. The package contains bundles. */
export const runsFromSources = import.meta.url.endsWith('.ts')

/**
 * The folder for downloaded programs: `.cache` in a clone, else that of the user.
 * Never a folder below `node_modules`, which npm may remove.
 */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env, isClone: boolean = runsFromSources): string {
  if (isClone) return fileURLToPath(new URL('../../../../.cache/', import.meta.url))
  const { XDG_CACHE_HOME = '' } = env
  // A relative path is invalid: https://specifications.freedesktop.org/basedir-spec/latest/
  return join(isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache'), 'portico')
}
