/** Part of `npm run check`: reports packages of package-lock.json whose license is not on the lists. */
import { readFileSync } from 'node:fs'
import { DEVELOPMENT_LICENSES, isAllowed, licenseOf, SHIPPED_LICENSES } from './build/licenses.ts'

interface Locked {
  version: string
  license?: string
  dev?: boolean
}

const { packages }: { packages: Record<string, Locked> } = JSON.parse(
  readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
)

const rejected = Object.entries(packages).flatMap(([path, locked]) => {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const license = licenseOf({ ...locked, name })
  const isDevelopment = locked.dev === true
  return isAllowed(license, isDevelopment ? DEVELOPMENT_LICENSES : SHIPPED_LICENSES)
    ? []
    : [`${name}@${locked.version}: ${license ?? 'no license'}${isDevelopment ? ', for development' : ''}`]
})

if (rejected.length > 0) {
  console.error(`These licenses are not on the lists in dev/build/licenses.ts:\n${rejected.join('\n')}`)
  process.exitCode = 1
}
