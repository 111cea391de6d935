/** Texts that the page of a link shows. */
import { characterIssue } from './names.ts'

// Control characters, and those with which a text can look like another one: U+202E shows what follows backwards.
export const HIDDEN_CHARACTERS = '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069'
const HIDDEN = new RegExp(`[${HIDDEN_CHARACTERS}]`)

export const MAX_TITLE_LENGTH = 200
export const MAX_LABEL_LENGTH = 80
export const MAX_CHOICES = 10

export function shownTextIssue(text: string, maxLength: number): string | null {
  if (text.trim() === '') return 'must not be blank'
  if (HIDDEN.test(text)) return 'must not contain control characters or characters that change the direction of text'
  return text.length > maxLength ? `must have at most ${maxLength} characters` : characterIssue(text)
}
