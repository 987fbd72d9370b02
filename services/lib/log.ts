type Write = (details: object, message: string) => void

/** The part of pino that services use: details of an event, and a sentence about it. */
export interface Log {
  info: Write
  warn: Write
  error: Write
}
