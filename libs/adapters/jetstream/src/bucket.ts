/** A bucket is a stream with one message per subject; its names follow the KV convention of NATS. */
export const bucketStream = (bucket: string): string => `KV_${bucket}`;

export const entrySubject = (bucket: string, key: string): string => `$KV.${bucket}.${key}`;

/** The key in an entry's subject. */
export const keyOfEntry = (bucket: string, subject: string): string => subject.slice(`$KV.${bucket}.`.length);
