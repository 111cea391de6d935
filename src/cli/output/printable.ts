// Control characters, and those that change the direction of text. A value of a workflow must not move the cursor, hide
// text or change the title of the terminal.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The string on one line of a terminal, with escapes for characters that would affect the terminal. */
export function printable(value: string): string {
  return value.replace(UNPRINTABLE, escaped)
}

/** The same for several lines. */
export function printableLines(value: string): string {
  return value.split('\n').map(printable).join('\n')
}

/** A JSON document with the same value. White space between its tokens is kept. */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (character) => ('\t\n\r'.includes(character) ? character : escaped(character)))
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
