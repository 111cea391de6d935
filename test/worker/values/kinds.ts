/** Values beside a secret that are not JSON as `JSON.parse` reads it, and how they are shown. */

export const SECRET = 'hunter2'

const REDACTED = '[redacted]'
const LEVELS = 1200
const TREE = `${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`
const NOT_JSON = '"score":NaN,"low":-Infinity,"name":"NaN","id":9007199254740993'
const READ = '"score":"NaN","low":"-Infinity","name":"NaN","id":9007199254740993'

interface Kind {
  encoding: string
  text: string
  /** As JSON, if it can be read: where values are not redacted, and everywhere else. */
  read?: { shown: string; redacted: string }
}

export type KindName = 'brokenJson' | 'deepJson' | 'foreign' | 'jsonBytes' | 'notANumber'

export const KINDS: Readonly<Record<KindName, Kind>> = {
  notANumber: {
    encoding: 'json/plain',
    text: `{"password":"${SECRET}",${NOT_JSON}}`,
    read: { shown: `{"password":"${SECRET}",${READ}}`, redacted: `{"password":"${REDACTED}",${READ}}` },
  },
  deepJson: { encoding: 'json/plain', text: `{"password":"${SECRET}","tree":${TREE}}` },
  brokenJson: { encoding: 'json/protobuf', text: `{"password":"${SECRET}"` },
  foreign: { encoding: 'text/plain', text: `password: ${SECRET}` },
  jsonBytes: { encoding: 'binary/plain', text: `[{"password":"${SECRET}"}]` },
}

/** What stands for such a value in workflows and activities. */
export interface Value {
  as: KindName
}

/** As JSON, where values are not redacted. */
export function shownAs(as: KindName): string {
  const { encoding, text, read } = KINDS[as]
  return read?.shown ?? JSON.stringify({ encoding, data: btoa(text) })
}

/** As JSON, everywhere else. */
export function redactedAs(as: KindName): string {
  const { encoding, read } = KINDS[as]
  return read?.redacted ?? JSON.stringify({ encoding, data: REDACTED })
}
