import { v7 as uuidv7 } from 'uuid'

/** A new unique id. Ids sort by the time of their creation. */
export function newId(): string {
  return uuidv7()
}
