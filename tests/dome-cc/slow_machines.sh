#!/bin/bash
exec "$(dirname "$0")/machines.sh" all
