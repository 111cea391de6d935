/** The licenses that packages may have. `npm run check` applies them to package-lock.json, the build to bundles. */
import { createRequire } from 'node:module'

// The package has no types.
const satisfies: (expression: string, allowed: readonly string[]) => boolean = createRequire(import.meta.url)(
  'spdx-satisfies',
)

/** Of what users get: in bundles, or installed with the package. */
export const SHIPPED_LICENSES: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
]

/** Of what only builds and tests run. */
export const DEVELOPMENT_LICENSES: readonly string[] = [
  ...SHIPPED_LICENSES,
  'CC-BY-3.0',
  'CC-BY-4.0',
  'CC0-1.0',
  'LGPL-3.0-or-later',
  'MPL-2.0',
  'PSF-2.0',
  'Unlicense',
]

/** Licenses of packages whose package.json has no valid SPDX expression, as their LICENSE files say. */
const READ_BY_HAND = new Map([['unionfs@4.6.0', 'Unlicense']])

interface Licensed {
  name: string
  version: string
  license?: unknown
}

/** The SPDX expression of a package, or null if it has none. */
export function licenseOf({ name, version, license }: Licensed): string | null {
  return READ_BY_HAND.get(`${name}@${version}`) ?? (typeof license === 'string' ? license : null)
}

/** Whether the licenses on the list suffice for the expression: all of an `AND`, one of an `OR`. */
export function isAllowed(expression: string | null, list: readonly string[]): boolean {
  try {
    return expression !== null && satisfies(expression, list)
  } catch {
    // It is not an SPDX expression, such as SEE LICENSE IN LICENSE.
    return false
  }
}
