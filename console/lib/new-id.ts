/** Returns a new random id. Pages of insecure origins have no `crypto.randomUUID`. */
export const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('')
