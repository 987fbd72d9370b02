/**
 * Tells tap for which tests coverage is measured. Tests in these two folders run the built service in child processes, whose bundles V8
 * cannot map to the sources cheaply, so measuring would only slow them down.
 */
export default (test: string): [] | null => /^test\/(?:faults|process)\//.test(test) ? null : []
